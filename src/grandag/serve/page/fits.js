// Every fit with its settings, how it went, and the progress of the one that runs.

import { counted, duration, fill, make, shown } from "./elements.js";
import { ask } from "./server.js";

const WORDS = { waiting: "waits", running: "runs", done: "done", stopped: "stopped", failed: "failed" };

/** The progress of what runs: stage, facts, time left. */
export function progressLine(progress) {
  const bar = make("progress", { max: 1, "aria-label": progress.title ?? "Progress" });
  if (progress.n_steps) bar.value = progress.step / progress.n_steps;
  const left = progress.left ? `, ${progress.stage === "resample" ? "about" : "at most"} ${duration(progress.left)} left of this stage` : "";
  const time = progress.elapsed ? `${duration(progress.elapsed)} so far${left}` : "";
  return [make("strong", {}, progress.title ?? "Preparing"), bar, make("small", {}, [progress.facts, time].filter(Boolean).join("; "))];
}

export function fitsPart(root, app) {
  const list = make("ol", { class: "fits" });
  root.append(list);
  let known = "";
  let place = null;

  const act = (path, method) => app.attempt(() => ask(path, { method }));

  function item(fit) {
    const isCurrent = fit.id === app.fit;
    const title = `Fit ${fit.id}: ${fit.method}${fit.preset === "default" ? "" : `, ${fit.preset}`}`;
    const runs = fit.status === "running" || fit.refits === "running";
    const waits = fit.status === "waiting" || fit.refits === "waiting";
    const progress = runs ? make("div", { class: "progress" }, progressLine(app.state.running)) : null;
    if (runs) place = progress;
    const open = app.isShown(fit)
      ? make("button", { type: "button", class: "fit-open", "aria-pressed": isCurrent, onclick: () => app.chooseFit(fit.id) }, title)
      : make("strong", {}, title);
    return make(
      "li",
      { class: `fit ${fit.status}${isCurrent ? " current" : ""}`, "data-fit": fit.id },
      make("div", { class: "row" }, open, make("span", { class: "chip" }, WORDS[fit.status])),
      fit.headline && make("small", {}, [fit.headline, fit.score === null ? "" : `log-density of a row ${shown(fit.score)}`, fit.n_concerns ? `${counted(fit.n_concerns, "reason")} to doubt it` : ""].filter(Boolean).join("; ")),
      fit.message && make("p", { class: fit.status === "failed" ? "trouble" : "note" }, fit.message),
      progress,
      settings(fit),
      make(
        "div",
        { class: "row" },
        (runs || waits) && make("button", { type: "button", class: "plain stop", onclick: () => act(`api/fits/${fit.id}/stop`, "POST") }, runs ? "Stop" : "Take out of the queue"),
        !runs && make("button", { type: "button", class: "plain", "aria-label": `Remove fit ${fit.id}`, onclick: () => act(`api/fits/${fit.id}`, "DELETE") }, "Remove"),
      ),
    );
  }

  return {
    progress(progress) {
      if (place !== null) fill(place, progressLine(progress));
    },
    update() {
      const fits = app.state.fits.filter((fit) => fit.table === app.table || fit.status === "running" || fit.status === "waiting");
      const key = JSON.stringify([fits, app.fit, app.table]);
      if (key === known) return;
      known = key;
      place = null;
      fill(list, fits.length ? [...fits].reverse().map(item) : make("li", { class: "empty" }, "No fit yet."));
    },
  };
}

function settings(fit) {
  const entries = [["seed", fit.seed], ...Object.entries(fit.parameters)];
  if (fit.left_out.length) entries.push(["left out", fit.left_out.join(", ")]);
  for (const [kind, items] of Object.entries(fit.knowledge)) entries.push([kind.replaceAll("_", " "), counted(items.length, "entry").replace("entrys", "entries")]);
  return make("details", {}, make("summary", {}, "Settings"), make("dl", { class: "facts" }, entries.map(([name, value]) => make("div", {}, make("dt", {}, String(name).replaceAll("_", " ")), make("dd", {}, String(value))))));
}
