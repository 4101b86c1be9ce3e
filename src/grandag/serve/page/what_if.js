// Setting variables by sliders, and what that does to all others by the learned model.

import { choice, counted, fill, make, shown } from "./elements.js";
import { ask } from "./server.js";
import { twoHistograms } from "./charts.js";

const MOST = 24;

export function whatIfPart(root, app) {
  const sliders = make("div", { class: "sliders" });
  const result = make("div", { "aria-live": "off" });
  root.append(make("h2", {}, "What if"), sliders, result);
  let known = "";
  let view = null;
  let values = new Map();
  let waiting = 0;
  let running = null;

  function controls() {
    const free = view.names.filter((name) => !values.has(name) && view.observed[name] && view.observed[name][0] < view.observed[name][4]);
    const add = choice([["", "Set a variable …"], ...free], "", {
      id: "set-variable",
      onchange: (event) => {
        if (event.target.value === "") return;
        values.set(event.target.value, view.labels[event.target.value]?.at(-1) ?? view.observed[event.target.value][3]);
        controls();
        later(0);
      },
    });
    fill(sliders, [...values].map(([name]) => (view.labels[name] ? labels(name) : slider(name))), make("div", { class: "field" }, make("label", { for: "set-variable" }, "Variable to set from outside"), add));
  }

  function setting(name, ...inputs) {
    const remove = () => {
      values.delete(name);
      controls();
      later(0);
    };
    return make("div", { class: "slider" }, make("strong", {}, name), inputs,
      make("button", { type: "button", class: "plain", "aria-label": `Leave ${name} alone`, onclick: remove }, "Remove"));
  }

  function labels(name) {
    const set = (event) => {
      values.set(name, event.target.value);
      later(0);
    };
    return setting(name, choice(view.labels[name].map((label) => [label, label]), values.get(name), { "aria-label": `Set ${name}`, "data-variable": name, onchange: set }));
  }

  function slider(name) {
    const [low, , , , high] = view.observed[name];
    const number = make("input", { type: "number", step: "any", value: Number(values.get(name).toPrecision(6)), "aria-label": `Value of ${name}` });
    const range = make("input", { type: "range", min: low, max: high, step: (high - low) / 200, value: values.get(name), "aria-label": `Set ${name}`, "data-variable": name });
    const set = (value, other) => {
      if (!Number.isFinite(value)) return;
      values.set(name, value);
      other.value = Number(value.toPrecision(6));
      later(150);
    };
    range.addEventListener("input", () => set(Number(range.value), number));
    number.addEventListener("input", () => number.value !== "" && set(Number(number.value), range));
    return setting(name, range, number, make("small", {}, `the table has ${shown(low)} to ${shown(high)}`));
  }

  function later(milliseconds) {
    clearTimeout(waiting);
    waiting = setTimeout(show, milliseconds);
  }

  async function show() {
    running?.abort();
    if (!values.size) {
      fill(result, make("p", { class: "empty" }, "Choose a variable, and set it: the others answer by the learned model. An intervention is not an observation: what causes the variable has no say in it any more."));
      return;
    }
    running = new AbortController();
    const { signal } = running;
    const fit = app.fit;
    const message = { values: Object.fromEntries(values) };
    result.setAttribute("aria-busy", true);
    try {
      render(await ask(`api/fits/${fit}/changes`, { method: "POST", message, signal }));
      if (app.currentFit()?.n_resamples > 1) render(await ask(`api/fits/${fit}/changes`, { method: "POST", message: { ...message, with_interval: true }, signal }));
    } catch (error) {
      if (error.name !== "AbortError") fill(result, make("p", { class: "trouble", role: "alert" }, error.message));
    }
    if (!signal.aborted) result.setAttribute("aria-busy", false);
  }

  function render(found) {
    const size = (variable) => Math.abs(variable.means.change) / (variable.scale || 1);
    const others = found.variables.filter((variable) => !variable.is_set);
    const moved = others.filter((variable) => size(variable) > 1e-9).sort((one, other) => size(other) - size(one));
    const still = others.filter((variable) => size(variable) <= 1e-9);
    const interval = (means) => (means.low === undefined ? "" : `; 90 % of ${found.n_refits} refits: ${shown(means.low)} to ${shown(means.high)}`);
    const card = (variable) => make("figure", { class: "card", "data-variable": variable.name },
      make("figcaption", {}, make("strong", {}, variable.name)),
      twoHistograms(variable),
      make("p", { class: "ends" }, make("span", {}, shown(variable.low)), make("span", {}, shown(variable.high))),
      make("p", {}, `Mean ${shown(variable.means.before)} → ${shown(variable.means.after)}`),
      make("p", { class: "effect" }, `Change ${variable.means.change > 0 ? "+" : ""}${shown(variable.means.change)}${interval(variable.means)}`));
    const left = moved.length > MOST ? make("p", { class: "note" }, `The ${MOST} that change most, of ${counted(moved.length, "variable")} that change.`) : null;
    const names = (list) => `${list.slice(0, 30).map((variable) => variable.name).join(", ")}${list.length > 30 ? ` and ${list.length - 30} more` : ""}`;
    fill(
      result,
      found.warnings.map((text) => make("p", { class: "concern" }, text)),
      make("p", { class: "note" }, `Outline: before. Bars: after.${found.n_refits ? "" : " For intervals, refit below the graph first."}`),
      left,
      make("div", { class: "cards", id: "changes" }, moved.slice(0, MOST).map(card)),
      still.length > 0 && make("p", {}, `No path leads to ${names(still)}: ${still.length === 1 ? "it does" : "they do"} not change.`),
    );
  }

  return {
    update() {
      if (app.tab !== "what-if") return;
      const fit = app.currentFit();
      const key = fit === null ? "none" : `${fit.id} ${fit.n_resamples} ${fit.headline}`;
      if (key === known) return;
      known = key;
      if (fit === null || !app.isShown(fit)) {
        fill(sliders);
        fill(result, make("p", { class: "empty" }, "Learn a graph first."));
        return;
      }
      app.attempt(async () => {
        const found = await app.view(fit);
        view = found;
        values = new Map([...values].filter(([name]) => view.observed[name]));
        if (!view.has_model) {
          fill(sliders);
          fill(result, make("p", { class: "empty" }, "This method gives a graph without a model: learn with another one."));
          return;
        }
        controls();
        show();
      });
    },
  };
}
