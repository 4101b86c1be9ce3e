// Two fits side by side, or a fit and the true graph.

import { choice, counted, fill, make, shown } from "./elements.js";
import { ask } from "./server.js";
import { Canvas, boxGroup, lineGroup, straight } from "./drawing.js";

const KINDS = { found: "in both", extra: "only left", missing: "only right", reversed: "reversed", "direction differs": "directed in one only" };

export function comparePart(root, app) {
  const form = make("div", { class: "tools" });
  const result = make("div");
  root.append(make("h2", {}, "Compare"), form, result);
  let known = "";
  let wish = { left: null, right: null };
  let count = 0;

  function options(fits) {
    const title = (fit) => [fit.id, `Fit ${fit.id}: ${fit.method}, ${fit.headline.split(";")[0]}`];
    const left = choice(fits.map(title), wish.left, { id: "compare-left", onchange: (event) => { wish.left = Number(event.target.value); show(); } });
    const table = app.currentTable();
    const others = [...(table?.has_truth ? [["truth", "The true graph"]] : []), ...fits.map(title)];
    const right = choice(others, wish.right, { id: "compare-right", onchange: (event) => { wish.right = event.target.value; show(); } });
    fill(form, make("div", { class: "field" }, make("label", { for: "compare-left" }, "Left"), left), make("div", { class: "field" }, make("label", { for: "compare-right" }, "Right"), right));
  }

  async function show() {
    const own = ++count;
    if (wish.left === null || wish.right === null) return;
    fill(result, make("p", { class: "busy", role: "status" }, "Comparing …"));
    try {
      const found = await ask(`api/fits/${wish.left}/compare/${wish.right}`);
      if (own === count) fill(result, ...shownResult(found));
    } catch (error) {
      if (own === count) fill(result, make("p", { class: "trouble", role: "alert" }, error.message));
    }
  }

  function shownResult(found) {
    const numbers = Object.keys(KINDS).map((kind) => [KINDS[kind], found.edges.filter((edge) => edge.difference === kind).length]);
    const isTruth = String(wish.right) === "truth";
    const metrics = [["SHD", found.score.shd], ["SHD of the classes (SHD-C)", found.score.shd_cpdag], ["SID", found.score.sid ?? (found.score.sid_lower === null ? null : `${found.score.sid_lower} to ${found.score.sid_upper}`)]];
    const cell = ([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value === null || value === undefined ? "not defined" : typeof value === "number" ? shown(value) : value));
    const only = [["left", found.only.left], ["right", found.only.right]].filter(([, names]) => names.length).map(([side, names]) => make("p", { class: "note" }, `Only the ${side} graph has ${names.slice(0, 20).join(", ")}${names.length > 20 ? ` and ${names.length - 20} more` : ""}: left out here.`));
    const rows = found.edges.slice(0, 2000).map((edge) => make("tr", { class: edge.difference.replace(" ", "-"), "data-difference": KINDS[edge.difference] },
      make("th", { scope: "row" }, `${edge.source} – ${edge.target}`), make("td", {}, mark(edge.estimate)), make("td", {}, mark(edge.truth)), make("td", {}, KINDS[edge.difference])));
    return [
      make("dl", { class: "facts", id: "comparison" }, numbers.map(cell), metrics.map(cell)),
      make("p", { class: "note" }, isTruth ? "SHD and SID are distances from the true graph: 0 is best." : "SHD and SID are distances of the left graph from the right one: 0 means the same."),
      found.score.notes.map((note) => make("p", { class: "note" }, note)),
      only,
      found.drawing ? sides(found) : make("p", { class: "note" }, `The two graphs have too many edges together to be drawn side by side: ${counted(found.edges.length, "edge")}, listed below.`),
      make("ul", { class: "legend" }, Object.entries(KINDS).map(([kind, words]) => make("li", { class: kind.replace(" ", "-") }, make("span", { class: "key", "aria-hidden": true }), words))),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Edges of either graph" }, make("table", {},
        make("thead", {}, make("tr", {}, ["Pair", "Left", "Right", ""].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, rows))),
      found.edges.length > rows.length && make("p", { class: "note" }, `The first ${rows.length.toLocaleString("en")} of ${counted(found.edges.length, "edge")} are listed.`),
    ];
  }

  const mark = (word) => ({ "->": "→", "<-": "←", "--": "—" })[word] ?? "no edge";

  function sides(found) {
    const side = (title, field) => {
      const boxes = new Map(found.drawing.nodes.map((node) => [node.name, node]));
      const lines = found.edges.filter((edge) => edge[field]).map((edge) => {
        const [from, to] = edge[field] === "<-" ? [edge.target, edge.source] : [edge.source, edge.target];
        const directed = edge[field] !== "--";
        const isLine = (line) => line.source === from && line.target === to && line.directed === directed;
        const shape = found.drawing.edges.find(isLine) ?? straight(boxes.get(from), boxes.get(to), { directed });
        const label = `${from} ${directed ? "→" : "—"} ${to}, ${KINDS[edge.difference]}`;
        const group = lineGroup(shape, { class: `edge ${edge.difference.replace(" ", "-")}`, role: "img", "aria-label": label });
        group.append(make("title", {}, label));
        return group;
      });
      const canvas = new Canvas(title);
      canvas.show(found.drawing.frame, lines, found.drawing.nodes.map((node) => boxGroup(node)));
      return make("figure", {}, make("figcaption", {}, title), make("div", { class: "paper" }, canvas.svg));
    };
    return make("div", { class: "sides" }, side("Left", "estimate"), side("Right", "truth"));
  }

  return {
    update() {
      if (app.tab !== "compare") return;
      const fits = app.state.fits.filter((fit) => app.isShown(fit) && fit.table === app.table);
      const table = app.currentTable();
      const key = JSON.stringify([fits.map((fit) => [fit.id, fit.headline]), app.fit, table?.id, table?.has_truth]);
      if (key === known) return;
      known = key;
      if (!fits.length) {
        fill(form);
        fill(result, make("p", { class: "empty" }, "There is nothing to compare yet: learn a graph first."));
        return;
      }
      const others = fits.filter((fit) => fit.id !== app.fit);
      const current = fits.some((fit) => fit.id === app.fit) ? app.fit : fits.at(-1).id;
      wish = { left: current, right: others.at(-1)?.id ?? (table?.has_truth ? "truth" : current) };
      options(fits);
      show();
    },
  };
}
