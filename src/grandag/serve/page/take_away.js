// What a person takes away: scripts that learn the same graph again, files, and the whole workspace.

import { fill, make } from "./elements.js";
import { ask } from "./server.js";

export function takeAwayPart(root, app) {
  const body = make("div");
  root.append(make("h2", {}, "Take away"), body);
  let known = "";

  function code(title, text, href, explanation) {
    const copy = async () => {
      await navigator.clipboard.writeText(text);
      app.say("Copied.");
    };
    return make("section", {}, make("h3", {}, title), make("p", { class: "note" }, explanation), make("pre", { tabindex: 0, "aria-label": title }, text),
      make("div", { class: "row" }, make("button", { type: "button", class: "plain", onclick: () => app.attempt(copy) }, "Copy"), make("a", { class: "button plain", href, download: true }, "Save")));
  }

  async function show(fit) {
    const found = await app.attempt(() => ask(`api/fits/${fit.id}/recipe`));
    if (found === undefined || app.fit !== fit.id) return;
    const file = (name) => `api/fits/${fit.id}/files/${name}`;
    const link = (href, text, attributes = { download: true }) => make("li", {}, make("a", { href, ...attributes }, text));
    const origin = app.currentTable()?.origin;
    const where = origin === "file" ? "Run it where the table's file is." : "It brings its own data.";
    fill(
      body,
      make("ul", { class: "files", id: "files" },
        link(`api/fits/${fit.id}/report`, "Report page", { target: "_blank", rel: "noopener" }),
        link(file("model.npz"), "Model (.npz)"),
        link(file("edges.csv"), "Edges (.csv)"),
        fit.n_resamples > 0 && link(file("confidence.csv"), "Frequencies (.csv)"),
        Object.keys(fit.knowledge).length > 0 && link(file("knowledge.toml"), "Knowledge (.toml)"),
        app.choices.formats.map((ending) => link(file(`graph.${ending}`), `Graph (.${ending})`)),
        link("workspace.zip", "The whole workspace (.zip): open it with grandag serve workspace.zip")),
      code("Command line", found.command, file("command.sh"), `Learns this graph again, and writes all files. ${where}`),
      code("Python", found.script, file("script.py"), `The same as a script. ${where}`),
    );
  }

  return {
    update() {
      if (app.tab !== "take-away") return;
      const fit = app.currentFit();
      const key = fit === null ? "none" : `${fit.id} ${fit.n_resamples} ${fit.headline}`;
      if (key === known) return;
      known = key;
      if (fit === null || !app.isShown(fit)) fill(body, make("p", { class: "empty" }, "Learn a graph first."));
      else show(fit);
    },
  };
}
