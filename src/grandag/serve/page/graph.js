// The graph: drawn in layers, searched, thinned out by a slider, and asked about by pointer or keys.

import { arrow, choice, counted, fill, make, shown } from "./elements.js";
import { ask } from "./server.js";
import { curveChart, labelTable } from "./charts.js";
import { Canvas, boxGroup, edgeName, lineGroup, straight } from "./drawing.js";
import { edit, knownOf } from "./knowledge.js";
import { progressLine } from "./fits.js";

const RELATIONS = { neighbours: "its causes and effects", parents: "its causes", children: "its effects", ancestors: "all that leads to it", descendants: "all that it leads to" };
const pairKey = (source, target) => `${source}\u0000${target}`;

export function graphPart(root, app) {
  const canvas = new Canvas("The graph. Arrow keys go through nodes and edges, Enter chooses one, plus and minus zoom.");
  const detail = make("div", { class: "detail", id: "detail", role: "region", "aria-label": "What is chosen" });
  const head = make("div", { class: "tools" });
  const below = make("div", { class: "below" });
  const refits = make("div", { class: "refits" });
  const caption = make("p", { class: "note", id: "caption" });
  const body = make("div", { hidden: true }, head, make("div", { class: "stage" }, make("div", {}, make("div", { class: "paper" }, canvas.svg), caption), detail), refits, below);
  const nothing = make("div", { class: "empty", id: "no-graph" });
  root.append(nothing, body);

  let view = null; // facts of the fit
  let drawn = null; // what is on the canvas
  let facts = new Map(); // of edges, by pair
  let groups = []; // {kind, names, group, data}
  let chosen = null;
  let around = null;
  let relation = "neighbours";
  let slider = { fact: "", hidden: new Set() };
  let known = "";
  const curves = new Map();

  // What is known of an edge

  function factsOf(edge) {
    return facts.get(pairKey(edge.source, edge.target)) ?? facts.get(pairKey(edge.target, edge.source)) ?? { numbers: {}, texts: [] };
  }

  async function curve(edge) {
    const key = `${app.fit} ${pairKey(edge.source, edge.target)}`;
    if (!curves.has(key)) {
      const query = new URLSearchParams({ source: edge.source, target: edge.target });
      curves.set(key, ask(`api/fits/${app.fit}/curve?${query}`).catch((error) => ({ error: error.message })));
    }
    return curves.get(key);
  }

  async function describeEdge(edge, isPreview) {
    const { texts } = factsOf(edge);
    const table = app.currentFit().table;
    const about = app.state.tables.find((some) => some.id === table).knowledge;
    const words = knownOf(about, [edge.source, edge.target]);
    const act = (word) => () => edit(app, table, word, [edge.source, edge.target]).then(() => describe(chosen));
    const button = (word, text) => make("button", { type: "button", class: "plain", "data-edit": word, onclick: act(word) }, text);
    const place = make("div", { class: "curve-place" });
    fill(
      detail,
      make("h3", {}, edgeName(edge)),
      words && make("p", { class: "chip" }, `${words} from the next fit on`),
      make("dl", { class: "facts" }, texts.map(([name, text]) => make("div", {}, make("dt", {}, name), make("dd", {}, text)))),
      edge.doubt && make("p", { class: "concern" }, edge.doubt),
      isPreview
        ? make("p", { class: "note" }, "Click the edge to forbid, require or reverse it.")
        : make("div", { class: "row" }, button("forbid", "Forbid"), button("require", "Require"), edge.directed && button("reverse", "Reverse"), words && button("free", "Forget")),
      place,
    );
    if (!view.has_model) return;
    const found = await curve(edge);
    if (!place.isConnected) return;
    fill(place, found.error ? make("p", { class: "note" }, found.error) : [make("small", {}, `Effect of ${found.source} on ${found.target}`), found.places ? labelTable(found) : curveChart(found)]);
  }

  function describeNode(name) {
    const table = app.currentFit().table;
    const about = app.state.tables.find((some) => some.id === table).knowledge;
    const words = knownOf(about, [name]);
    const act = (word) => () => edit(app, table, word, [name]).then(() => describe(chosen));
    const button = (word, text) => make("button", { type: "button", class: "plain", "data-edit": word, onclick: act(word) }, text);
    const link = (other) => make("button", { type: "button", class: "link", onclick: () => find(other) }, other);
    const near = (test, to) => view.edges.filter(test).map(to);
    const isDirected = (edge) => edge.type !== "--";
    const parents = near((edge) => edge.target === name && isDirected(edge), (edge) => edge.source);
    const children = near((edge) => edge.source === name && isDirected(edge), (edge) => edge.target);
    const joined = near((edge) => !isDirected(edge) && (edge.source === name || edge.target === name), (edge) => (edge.source === name ? edge.target : edge.source));
    const listed = (title, names) => names.length > 0 && make("p", {}, make("strong", {}, `${title}: `), names.flatMap((other, place) => [place ? ", " : "", link(other)]));
    const observed = view.observed[name];
    const tiers = (about.tiers ?? []).length;
    const now = (about.tiers ?? []).findIndex((members) => members.includes(name));
    const tier = choice([["", "in no tier"], ...Array.from({ length: tiers + 1 }, (_, number) => [number, `tier ${number}`])], now < 0 ? "" : now, {
      id: "tier", onchange: (event) => act(event.target.value === "" ? "tier" : `tier ${event.target.value}`)(),
    });
    fill(
      detail,
      make("h3", {}, name),
      words && make("p", { class: "chip" }, `${words} from the next fit on`),
      observed && make("p", {}, `${shown(observed[0])} to ${shown(observed[4])}, half of the rows between ${shown(observed[1])} and ${shown(observed[3])}`),
      listed("Causes", parents), listed("Effects", children), listed("Joined, direction not known", joined),
      !parents.length && !children.length && !joined.length && make("p", {}, "No edge."),
      make("div", { class: "row" }, button("root", "Root: nothing causes it"), button("leaf", "Leaf: it causes nothing"), /root|leaf/.test(words) && button("free", "Forget")),
      make("div", { class: "field" }, make("label", { for: "tier" }, "Tier in time (later ones do not cause earlier ones)"), tier),
      make("button", { type: "button", class: "plain", onclick: () => look(name) }, "Show its neighbourhood alone"),
    );
  }

  /** What is chosen; of what is only pointed at, no buttons: who presses one must mean what is chosen. */
  function describe(item, isPreview = false) {
    if (item === null || item === undefined) fill(detail, make("p", { class: "empty" }, "Point at an edge for its facts and its curve. Click an edge to forbid, require or reverse it; click a node to make it a root, a leaf, or part of a tier."));
    else if (item.kind === "edge") describeEdge(item.data, isPreview);
    else describeNode(item.data.name);
  }

  // Choosing

  function choose(item, { focus = false } = {}) {
    chosen = item;
    for (const other of groups) {
      other.group.setAttribute("aria-pressed", other === item);
      other.group.setAttribute("tabindex", other === item || (item === null && other === groups[0]) ? 0 : -1);
    }
    if (focus) item?.group.focus({ preventScroll: true });
    describe(item);
    highlight();
  }

  function related(name) {
    const step = (names, forwards, all) => {
      const found = new Set();
      let fresh = [...names];
      while (fresh.length) {
        const next = [];
        for (const edge of view.edges) {
          const ends = [[edge.source, edge.target], ...(edge.type === "--" ? [[edge.target, edge.source]] : [])];
          for (const [from, to] of ends) {
            const [own, other] = forwards ? [from, to] : [to, from];
            if (fresh.includes(own) && !found.has(other)) {
              found.add(other);
              next.push(other);
            }
          }
        }
        fresh = all ? next : [];
      }
      return found;
    };
    const sets = {
      parents: () => step([name], false, false),
      children: () => step([name], true, false),
      ancestors: () => step([name], false, true),
      descendants: () => step([name], true, true),
      neighbours: () => new Set([...step([name], false, false), ...step([name], true, false)]),
    };
    return new Set([name, ...sets[relation]()]);
  }

  function highlight() {
    const marked = chosen === null ? null : chosen.kind === "node" ? related(chosen.data.name) : new Set([chosen.data.source, chosen.data.target]);
    for (const item of groups) {
      const isIn = marked === null || (item.kind === "node" ? marked.has(item.data.name) : isMarked(item.data, marked));
      item.group.classList.toggle("dim", !isIn);
      item.group.classList.toggle("hidden", item.kind === "edge" && slider.hidden.has(pairKey(item.data.source, item.data.target)));
    }
  }

  function isMarked(edge, marked) {
    if (chosen.kind === "edge") return edge === chosen.data;
    const name = chosen.data.name;
    const isOwn = edge.source === name || edge.target === name;
    if (["ancestors", "descendants"].includes(relation)) return marked.has(edge.source) && marked.has(edge.target);
    if (relation === "parents") return edge.target === name || (isOwn && !edge.directed);
    return relation === "children" ? edge.source === name || (isOwn && !edge.directed) : isOwn;
  }

  function find(name) {
    const item = groups.find((some) => some.kind === "node" && some.data.name === name);
    if (item === undefined) {
      if (view.names.includes(name)) look(name);
      else app.say(`There is no node of the name ${name}.`, true);
      return;
    }
    choose(item);
    canvas.centre(item.data);
  }

  async function look(name) {
    around = name;
    await draw();
    if (name !== null) choose(groups.find((some) => some.kind === "node" && some.data.name === name) ?? null);
  }

  // Drawing

  async function draw() {
    const fit = app.currentFit();
    const query = around === null ? "" : `?${new URLSearchParams({ around, depth: 1 })}`;
    const found = await app.attempt(() => ask(`api/fits/${fit.id}/graph${query}`));
    if (found === undefined || app.fit !== fit.id) return;
    drawn = found;
    const largest = Math.max(...drawn.edges.map((edge) => edge.weight ?? 0), drawn.width_by === "frequency" ? 1 : 1e-12);
    const share = (weight) => (weight === null ? 0.35 : drawn.width_by === "evidence" ? Math.log1p(Math.max(weight, 0)) / Math.log1p(largest) : Math.max(weight, 0) / largest);
    const nodes = drawn.nodes.map((data) => ({ kind: "node", data, group: boxGroup(data, { role: "button", tabindex: -1, "aria-label": `Node ${data.name}` }) }));
    const edges = drawn.edges.map((data) => {
      const texts = factsOf(data).texts.map(([name, text]) => `${name} ${text}`).join(", ");
      const attributes = { role: "button", tabindex: -1, "aria-label": `Edge ${edgeName(data)}, ${texts}`, "data-source": data.source, "data-target": data.target };
      const look = { "stroke-width": (0.9 + 2.2 * share(data.weight)).toFixed(2), "stroke-dasharray": data.doubt ? "5 3" : null };
      return { kind: "edge", data, group: lineGroup(data, attributes, look) };
    });
    groups = [...nodes, ...edges];
    for (const item of groups) listenTo(item);
    canvas.show(drawn.frame, edges.map((item) => item.group), nodes.map((item) => item.group));
    const meaning = `Line width: ${drawn.width_by}.${drawn.doubt ? ` Dashed: ${drawn.doubt}.` : ""}`;
    const left = drawn.caption ? `${drawn.caption}. Search a node, or choose one, to see what is around it.` : "";
    fill(caption, left && make("strong", {}, `${left} `), meaning);
    choose(null);
  }

  function listenTo(item) {
    const { group } = item;
    group.addEventListener("click", () => !item.wasDragged && choose(item));
    group.addEventListener("pointerenter", () => item.kind === "edge" && item !== chosen && describe(item, true));
    group.addEventListener("pointerleave", () => item.kind === "edge" && item !== chosen && describe(chosen));
    group.addEventListener("focus", () => describe(item, item.kind === "edge" && item !== chosen));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(item, { focus: true });
        detail.querySelector("button")?.focus();
      }
    });
    if (item.kind === "node") group.addEventListener("pointerdown", (event) => drag(item, event));
  }

  /** Move a node; its lines follow, straight. */
  function drag(item, event) {
    if (event.button !== 0) return;
    item.wasDragged = false;
    const start = canvas.place(event);
    const from = [item.data.x, item.data.y];
    const boxes = new Map(groups.filter((some) => some.kind === "node").map((some) => [some.data.name, some.data]));
    const move = (later) => {
      const [x, y] = canvas.place(later);
      if (!item.wasDragged && Math.hypot(x - start[0], y - start[1]) < 3) return;
      item.wasDragged = true;
      [item.data.x, item.data.y] = [from[0] + x - start[0], from[1] + y - start[1]];
      item.group.setAttribute("transform", `translate(${item.data.x.toFixed(1)} ${item.data.y.toFixed(1)})`);
      for (const some of groups) {
        if (some.kind !== "edge" || ![some.data.source, some.data.target].includes(item.data.name)) continue;
        const shape = straight(boxes.get(some.data.source), boxes.get(some.data.target), some.data);
        for (const path of some.group.querySelectorAll("path")) path.setAttribute("d", shape.path);
        some.group.querySelector("polygon")?.setAttribute("points", shape.head);
      }
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  }

  canvas.svg.addEventListener("click", (event) => !event.target.closest(".node, .edge") && choose(null));
  canvas.svg.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key in steps) {
      event.preventDefault();
      const visible = groups.filter((item) => !item.group.classList.contains("hidden"));
      const place = visible.findIndex((item) => item.group === document.activeElement);
      visible[(place + steps[event.key] + visible.length) % visible.length]?.group.focus();
    } else if (event.key === "+" || event.key === "=") canvas.zoom(1 / 1.2);
    else if (event.key === "-") canvas.zoom(1.2);
    else if (event.key === "0") canvas.fit();
    else if (event.key === "Escape") choose(null);
  });

  // Around the drawing

  function tools() {
    const names = make("datalist", { id: "node-names" }, view.names.map((name) => make("option", { value: name })));
    const search = make("input", { type: "search", id: "search", list: "node-names", placeholder: "name of a node", onchange: (event) => event.target.value && find(event.target.value) });
    const mark = choice(Object.entries(RELATIONS), relation, { id: "relation", onchange: (event) => { relation = event.target.value; highlight(); } });
    const numeric = view.edges.length ? Object.keys(view.edges[0]).filter((name) => typeof view.edges[0][name] === "number") : [];
    const names_ = numeric.map((name) => [name, name.replaceAll("_", " ")]);
    if (!numeric.includes(slider.fact)) slider = { fact: numeric.includes(view.width_by) ? view.width_by : numeric[0] ?? "", hidden: new Set() };
    const said = make("output", { for: "threshold", id: "threshold-said" }, "all edges");
    const range = make("input", { type: "range", id: "threshold", min: 0, max: view.edges.length, step: 1, value: 0, oninput: () => thin(Number(range.value), said) });
    const fact = choice(names_, slider.fact, { id: "fact", onchange: (event) => { slider.fact = event.target.value; range.value = 0; thin(0, said); } });
    const button = (text, label, act) => make("button", { type: "button", class: "plain", "aria-label": label, onclick: act }, text);
    fill(
      head,
      make("div", { class: "field" }, make("label", { for: "search" }, "Find"), search, names),
      make("div", { class: "field" }, make("label", { for: "relation" }, "Of a chosen node, show"), mark),
      numeric.length > 0 && make("div", { class: "field wide" }, make("label", { for: "fact" }, "Hide weak edges by"), fact, make("label", { for: "threshold", class: "hidden-label" }, "Number of edges to hide"), range, said),
      make("div", { class: "row zoom" }, button("+", "Zoom in", () => canvas.zoom(1 / 1.3)), button("−", "Zoom out", () => canvas.zoom(1.3)), button("Fit", "Show all", () => canvas.fit()),
        button("Whole graph", "Leave the neighbourhood", () => look(null))),
    );
    thin(0, said);
  }

  /** Hide so many edges, the weakest first; of p-values the largest are the weakest. */
  function thin(count, said) {
    const { fact } = slider;
    const isSmallBetter = fact.includes("p_value");
    const value = (edge) => edge[fact] ?? (isSmallBetter ? Infinity : -Infinity);
    const ranked = [...view.edges].sort((one, other) => (isSmallBetter ? value(other) - value(one) : value(one) - value(other)));
    const hidden = ranked.slice(0, count);
    slider.hidden = new Set(hidden.flatMap((edge) => [pairKey(edge.source, edge.target), ...(edge.type === "--" ? [pairKey(edge.target, edge.source)] : [])]));
    const first = ranked[count];
    const name = fact.replaceAll("_", " ");
    said.textContent = !count ? "all edges" : first ? `${view.edges.length - count} of ${view.edges.length}: ${name} ${isSmallBetter ? "at most" : "at least"} ${shown(value(first))}` : "no edge";
    highlight();
  }

  function underneath() {
    const concerns = view.concerns.map((concern) => make("li", {}, make("strong", {}, concern.kind), make("p", {}, concern.message)));
    const header = view.header.map((name) => make("th", { scope: "col" }, name));
    const rows = view.texts.map((texts, place) => {
      const edge = view.edges[place];
      const open = make("button", { type: "button", class: "link", onclick: () => pick(edge) }, `${edge.source} ${arrow(edge.type !== "--")} ${edge.target}`);
      return make("tr", {}, make("th", { scope: "row" }, open), texts.slice(2).map((text) => make("td", { class: "number" }, text)));
    });
    const left = view.n_edges > rows.length ? make("p", { class: "note" }, `The strongest ${rows.length.toLocaleString("en")} of ${counted(view.n_edges, "edge")} are listed.`) : null;
    fill(
      below,
      make("section", { "aria-labelledby": "doubt-title" }, make("h3", { id: "doubt-title" }, "Reasons to doubt the graph"),
        concerns.length ? make("ul", { class: "concerns", id: "concerns" }, concerns) : make("p", {}, "None were found. That is not a proof: hidden causes, for one, leave no trace that is looked for.")),
      view.notes.length > 0 && make("section", {}, make("h3", {}, "Notes"), make("ul", { class: "notes" }, view.notes.map((note) => make("li", {}, note)))),
      view.clusters.length > 0 && make("section", {}, make("h3", {}, "Groups of nodes with many edges among them"),
        make("ul", {}, view.clusters.map((cluster) => make("li", {}, `${counted(cluster.n_nodes, "node")}: `, cluster.names.flatMap((name, place) => [place ? ", " : "", make("button", { type: "button", class: "link", onclick: () => look(name) }, name)]))))),
      make("details", { open: view.edges.length <= 30, id: "edges" }, make("summary", {}, counted(view.n_edges, "edge")), left,
        make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Edges" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "edge"), header.slice(2))), make("tbody", {}, rows))),
        view.explanations.map((text) => make("p", { class: "note" }, text))),
    );
  }

  async function pick(edge) {
    const same = (item) => item.kind === "edge" && [item.data.source, item.data.target].every((name) => [edge.source, edge.target].includes(name));
    if (!groups.some(same)) await look(edge.source);
    const item = groups.find(same);
    if (item) choose(item, { focus: true });
  }

  // Refits

  let refitsKnown = "";
  function confidence(fit) {
    const key = JSON.stringify([fit.id, fit.refits, fit.refits_message, fit.n_resamples]);
    if (key === refitsKnown) return;
    refitsKnown = key;
    const isOn = fit.refits === "waiting" || fit.refits === "running";
    const number = make("input", { type: "number", id: "resamples", min: 2, max: 1000, value: 20 });
    const kind = choice(app.choices.resample_kinds, "bootstrap", { id: "resample-kind" });
    const go = () => app.attempt(() => ask(`api/fits/${fit.id}/refits`, { method: "POST", message: { resamples: Number(number.value), kind: kind.value } }));
    fill(
      refits,
      make("h3", {}, "Confidence"),
      isOn
        ? [make("div", { class: "progress", id: "refit-progress" }, fit.refits === "running" ? progressLine(app.state.running) : "The refits wait for their turn."),
            make("button", { type: "button", class: "plain", onclick: () => app.attempt(() => ask(`api/fits/${fit.id}/stop`, { method: "POST" })) }, "Stop")]
        : [
            make("p", {}, fit.n_resamples ? `${counted(fit.n_resamples, "refit")} (${fit.refits_kind}): the edges have their frequencies, and What if has intervals.` : "How often does each edge come back when the method is refitted to resampled rows?"),
            fit.refits_message && make("p", { class: fit.refits === "failed" ? "trouble" : "note" }, fit.refits_message),
            make("div", { class: "row" }, make("label", { for: "resamples" }, "Refits"), number, make("label", { for: "resample-kind" }, "Rows"), kind,
              make("button", { type: "button", id: "refit-button", onclick: go }, fit.n_resamples ? "Refit again" : "Refit")),
          ],
    );
  }

  async function show(fit) {
    fill(nothing, make("p", { class: "busy", role: "status" }, "Drawing …"));
    nothing.hidden = false;
    const found = await app.attempt(() => app.view(fit));
    if (found === undefined || app.fit !== fit.id) return;
    view = found;
    facts = new Map(view.edges.map((edge, place) => [pairKey(edge.source, edge.target), { numbers: edge, texts: view.texts[place].slice(2).map((text, column) => [view.header[column + 2], text]) }]));
    around = null;
    tools();
    await draw();
    underneath();
    nothing.hidden = true;
    body.hidden = false;
    body.dataset.fit = fit.id;
  }

  function showNothing() {
    body.hidden = true;
    nothing.hidden = false;
    const words = app.state.tables.length ? "No graph yet. Press Learn the graph: a small table takes seconds." : "No table yet. Drop a file, or choose a bundled one.";
    fill(nothing, make("h2", {}, "The graph appears here"), make("p", {}, words));
  }

  return {
    progress(progress) {
      const place = document.getElementById("refit-progress");
      if (place !== null && progress.task === "refit" && progress.fit === app.fit) fill(place, progressLine(progress));
    },
    update() {
      const fit = app.currentFit();
      if (app.tab !== "graph") return;
      if (fit === null || !app.isShown(fit)) {
        known = "";
        showNothing();
        return;
      }
      confidence(fit);
      const key = `${fit.id} ${fit.n_resamples} ${fit.refits === "done"} ${fit.headline}`;
      if (key === known) return;
      known = key;
      show(fit);
    },
  };
}
