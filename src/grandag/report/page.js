"use strict";
// Sorting and filtering of tables, what is around a node, and the runs of a cell with their graphs, drawn when opened.
{
  const SVG = "http://www.w3.org/2000/svg";
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  /** A new element with attributes and children; texts stay texts. */
  function element(name, attributes = {}, ...children) {
    const isDrawn = ["svg", "g", "path", "rect", "text", "title"].includes(name);
    const made = isDrawn ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // Sorting

  const sortKey = document.getElementById("sort-key");

  /** What a row is sorted by: a number where there is one, else the text; null for nothing. */
  function valueOf(row, column) {
    const cell = row.cells[column];
    const known = cell.dataset[sortKey ? sortKey.value : "value"] ?? cell.dataset.value ?? cell.textContent.trim();
    return known === "" || known === "–" ? null : isNaN(known) ? known : Number(known);
  }

  function compare(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    return sign * String(one).localeCompare(String(other), "en", { numeric: true });
  }

  /** The number of the cell below a head; the second line of a head begins after the cells that span both lines. */
  function columnOf(head) {
    const spanning = head.parentElement.rowIndex ? all("tr:first-child > [rowspan]", head.closest("thead")).length : 0;
    return head.cellIndex + spanning;
  }

  function sort(head, direction) {
    const table = head.closest("table"), column = columnOf(head), sign = direction === "ascending" ? 1 : -1;
    const rows = all("tbody > tr", table).map((row) => [row, valueOf(row, column)]);
    rows.sort((one, other) => compare(one[1], other[1], sign));
    table.tBodies[0].append(...rows.map(([row]) => row));
    for (const other of all("[aria-sort]", table)) other.setAttribute("aria-sort", other === head ? direction : "none");
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.sort");
    if (!button) return;
    const head = button.closest("th");
    sort(head, head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending");
  });
  sortKey?.addEventListener("change", () => {
    for (const head of all(".matrix th:is([aria-sort=ascending], [aria-sort=descending])")) sort(head, head.getAttribute("aria-sort"));
  });

  // Filtering

  const text = document.getElementById("filter-text"), column = document.getElementById("filter-column");

  function filter() {
    const wanted = text.value.trim().toLowerCase();
    const methods = all("input[name=method]");
    const hidden = new Set(methods.filter((box) => !box.checked).map((box) => box.value));
    for (const row of all("[data-row]")) {
      row.hidden = hidden.has(row.dataset.row) || !row.dataset.row.toLowerCase().includes(wanted);
    }
    for (const part of all("[data-column]")) part.hidden = Boolean(column?.value) && part.dataset.column !== column.value;
    for (const table of all("table.matrix, table.times")) {
      const heads = all("thead th[data-column]", table);
      table.closest(".scroll").hidden = heads.length > 0 && heads.every((head) => head.hidden);
    }
    const rows = all(".matrix tbody tr, .edges tbody tr"), shown = rows.filter((row) => !row.hidden).length;
    document.getElementById("filter-status").value = shown === rows.length ? "" : `${shown} of ${rows.length} rows shown`;
  }

  if (text) {
    text.form.addEventListener("submit", (event) => event.preventDefault());
    for (const kind of ["input", "change"]) text.form.addEventListener(kind, filter);
    filter();
  }

  // Graphs

  const KINDS = {
    found: "found", missing: "missing", extra: "extra", reversed: "reversed",
    undirected: "found without its direction", drawn: "learned",
  };

  /** Edges i d + j by pair of nodes: 1 for i -> j with i < j, 2 for the opposite, 3 for an edge without direction. */
  function byPair(edges, size) {
    const pairs = new Map();
    for (const edge of edges) {
      const source = Math.floor(edge / size), target = edge % size;
      const key = Math.min(source, target) * size + Math.max(source, target);
      pairs.set(key, (pairs.get(key) ?? 0) | (source < target ? 1 : 2));
    }
    return pairs;
  }

  /** Every edge of the true or the learned graph, with its ends and its kind. */
  function compareGraphs(graph, learned) {
    const size = graph.names.length, estimate = byPair(learned, size);
    const truth = graph.truth && byPair(graph.truth, size);
    const pairs = [...new Set([...(truth ?? new Map()).keys(), ...estimate.keys()])];
    const edges = pairs.map((pair) => {
      const guess = estimate.get(pair), fact = truth?.get(pair), way = guess ?? fact;
      let kind = "drawn";
      if (truth) {
        if (guess === undefined) kind = "missing";
        else if (fact === undefined) kind = "extra";
        else if (guess === fact) kind = "found";
        else kind = guess === 3 || fact === 3 ? "undirected" : "reversed";
      }
      const ends = [Math.floor(pair / size), pair % size];
      if (way === 2) ends.reverse();
      return { ends, kind, directed: way !== 3 };
    });
    return edges.sort((one, other) => (other.kind === "found") - (one.kind === "found")); // errors lie on top
  }

  const WIDEST_BEND = 240;

  /** Where the way from a box's middle to a point leaves the box. */
  function border(box, height, point) {
    const middle = [box[0] + box[2] / 2, box[1] + height / 2];
    const dx = point[0] - middle[0], dy = point[1] - middle[1];
    const share = Math.min(Math.abs(box[2] / 2 / dx) || Infinity, Math.abs(height / 2 / dy) || Infinity);
    return [middle[0] + share * dx, middle[1] + share * dy];
  }

  /** A curve between two boxes, bent as little as it takes to run through no other. */
  function route(boxes, height, [from, to]) {
    const middle = (box) => [box[0] + box[2] / 2, box[1] + height / 2];
    const [x0, y0] = middle(boxes[from]), [x1, y1] = middle(boxes[to]);
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    let best = null;
    for (const share of [0, 0.12, -0.12, 0.25, -0.25, 0.4, -0.4, 0.6, -0.6]) {
      const bend = (Math.sign(share) * Math.min(Math.abs(share) * length, WIDEST_BEND)) / length;
      const control = [(x0 + x1) / 2 - bend * (y1 - y0), (y0 + y1) / 2 + bend * (x1 - x0)];
      const start = border(boxes[from], height, control), end = border(boxes[to], height, control);
      const hits = boxes.filter((box, k) => k !== from && k !== to && crosses(box, height, start, control, end, length)).length;
      if (!best || hits < best.hits) best = { start, control, end, hits };
      if (!hits) break;
    }
    return best;
  }

  function crosses(box, height, start, control, end, length) {
    const steps = Math.min(60, Math.max(8, Math.round(length / 12)));
    for (let step = 1; step < steps; step++) {
      const t = step / steps, a = (1 - t) ** 2, b = 2 * t * (1 - t), c = t * t;
      const x = a * start[0] + b * control[0] + c * end[0], y = a * start[1] + b * control[1] + c * end[1];
      if (x > box[0] - 4 && x < box[0] + box[2] + 4 && y > box[1] - 4 && y < box[1] + height + 4) return true;
    }
    return false;
  }

  /** A line of some kind, ended by an arrow head unless its edge has no direction. */
  function drawEdge(edge, boxes, height, names) {
    const { start, control, end } = route(boxes, height, edge.ends);
    const around = Math.hypot(end[0] - control[0], end[1] - control[1]) || 1;
    const ux = (end[0] - control[0]) / around, uy = (end[1] - control[1]) / around;
    const base = edge.directed ? [end[0] - 8 * ux, end[1] - 8 * uy] : end;
    const places = (...points) => points.map((point) => point.map((value) => value.toFixed(1)).join(" ")).join(" ");
    const [source, target] = edge.ends.map((node) => names[node]);
    const title = `${source} ${edge.directed ? "→" : "—"} ${target}: ${KINDS[edge.kind]}`;
    const group = element("g", {}, element("title", {}, title));
    group.append(element("path", { class: `edge ${edge.kind}`, d: `M${places(start)}Q${places(control, base)}` }));
    if (edge.directed) {
      const sides = [1, -1].map((side) => [base[0] - 4 * side * uy, base[1] + 4 * side * ux]);
      group.append(element("path", { class: `edge-head ${edge.kind}`, d: `M${places(end, ...sides)}z` }));
    }
    const middle = [0, 1].map((k) => (start[k] + 2 * control[k] + end[k]) / 4);
    return { group, points: [start, middle, end] };
  }

  function drawGraph(graph, learned, height, label = "The learned graph beside the true one") {
    const edges = compareGraphs(graph, learned).map((edge) => ({ ...edge, ...drawEdge(edge, graph.boxes, height, graph.names) }));
    const corners = graph.boxes.flatMap(([x, y, width]) => [[x, y], [x + width, y + height]]);
    const points = [...corners, ...edges.flatMap((edge) => edge.points)];
    const [left, right] = [Math.min, Math.max].map((end) => points.reduce((so, point) => end(so, point[0]), points[0][0]));
    const [top, bottom] = [Math.min, Math.max].map((end) => points.reduce((so, point) => end(so, point[1]), points[0][1]));
    const width = right - left + 24, tall = bottom - top + 24;
    const drawing = element("svg", {
      width: Math.ceil(width), height: Math.ceil(tall), role: "img", "aria-label": label,
      viewBox: `${(left - 12).toFixed(1)} ${(top - 12).toFixed(1)} ${width.toFixed(1)} ${tall.toFixed(1)}`,
    }, ...edges.map((edge) => edge.group));
    graph.boxes.forEach(([x, y, wide], node) => {
      const frame = element("rect", { x, y, width: wide, height, rx: 7 });
      const name = element("text", { x: x + wide / 2, y: y + height / 2 + 4.5 }, graph.names[node]);
      drawing.append(element("g", { class: "node", "data-node": graph.names[node] }, frame, name));
    });
    const zoom = element("button", { type: "button", class: "zoom", "aria-pressed": "false" }, "Full size");
    return [legend(edges), zoom, element("div", { class: "drawing", role: "region", "aria-label": "Drawing", tabindex: "0" }, drawing)];
  }

  // A drawing that is wider than the page is shown whole; a button, needed by no other drawing, shows it in full size.

  function offerZoom() {
    for (const button of all("button.zoom")) {
      const drawing = button.nextElementSibling.firstElementChild;
      button.hidden = drawing.width.baseVal.value <= button.nextElementSibling.clientWidth;
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.zoom");
    if (button) button.setAttribute("aria-pressed", button.nextElementSibling.classList.toggle("full"));
  });
  window.addEventListener("resize", offerZoom);
  offerZoom();

  function legend(edges) {
    const list = element("ul", { class: "legend" });
    for (const [kind, text] of Object.entries(KINDS)) {
      const count = edges.filter((edge) => edge.kind === kind).length;
      if (!count) continue;
      const line = element("svg", { class: "key", viewBox: "0 0 24 10", "aria-hidden": "true" }, element("path", { class: `edge ${kind}`, d: "M1 5h23" }));
      list.append(element("li", {}, line, `${text}: ${count}`));
    }
    return list;
  }

  // What is around a node of a large graph

  const chooser = document.getElementById("around-name");
  const large = chooser && JSON.parse(document.getElementById("large-graph").textContent);
  const MOST_NEIGHBOURS = 30, WIDEST_ROW = 900, BOX_GAP = 28, ROW_GAP = 70;

  /** Rows of nodes that are no wider than the page likes. */
  function rowsOf(nodes) {
    const rows = [];
    let width = Infinity;
    for (const node of nodes) {
      width += large.widths[node] + BOX_GAP;
      if (width > WIDEST_ROW) {
        rows.push([]);
        width = large.widths[node];
      }
      rows.at(-1).push(node);
    }
    return rows;
  }

  /** Boxes by node: each row in the middle, below the one before. */
  function placeRows(rows) {
    const boxes = new Map();
    rows.forEach((row, number) => {
      const total = row.reduce((sum, node) => sum + large.widths[node] + BOX_GAP, -BOX_GAP);
      let x = -total / 2;
      for (const node of row) {
        boxes.set(node, [x, number * (large.height + ROW_GAP), large.widths[node]]);
        x += large.widths[node] + BOX_GAP;
      }
    });
    return boxes;
  }

  /** Causes above the node; effects, and neighbours by edges without direction, below it. */
  function drawNeighbourhood(node, edges) {
    const causes = edges.filter(([, target, directed]) => target === node && directed).map(([source]) => source);
    const others = edges.map(([source, target]) => (source === node ? target : source)).filter((other) => !causes.includes(other));
    const boxes = placeRows([...rowsOf(causes), [node], ...rowsOf(others)]);
    const members = [...boxes.keys()], place = new Map(members.map((member, number) => [member, number]));
    const graph = { names: members.map((member) => large.names[member]), boxes: [...boxes.values()] };
    const inside = large.edges.filter(([source, target]) => boxes.has(source) && boxes.has(target));
    const pairs = inside.flatMap(([source, target, directed]) => (directed ? [[source, target]] : [[source, target], [target, source]]));
    const coded = pairs.map(([source, target]) => place.get(source) * members.length + place.get(target));
    const [, zoom, drawing] = drawGraph(graph, coded, large.height, `Causes and effects of ${large.names[node]}`);
    all(".node", drawing)[place.get(node)].classList.add("chosen");
    return [zoom, drawing];
  }

  /** The edges of a node as a table; a button goes on to the other end. */
  function neighbourTable(node, edges) {
    const head = element("tr", {}, ...["Variable", "is", ...large.columns].map((name) => element("th", { scope: "col" }, name)));
    const rows = edges.map(([source, target, directed, ...facts]) => {
      const name = large.names[source === node ? target : source];
      const role = !directed ? "joined, direction open" : source === node ? "an effect" : "a cause";
      const button = element("button", { type: "button", class: "show", "data-node": name }, name);
      return element("tr", {}, element("td", {}, button), element("td", {}, role), ...facts.map((fact) => element("td", {}, fact)));
    });
    const table = element("table", { class: "list" }, element("thead", {}, head), element("tbody", {}, ...rows));
    return element("div", { class: "scroll", role: "region", "aria-label": `Edges of ${large.names[node]}`, tabindex: "0" }, table);
  }

  function showAround(name) {
    const node = large.names.indexOf(name), status = document.getElementById("around-status");
    if (node < 0) {
      status.value = name ? "There is no variable of this name." : "";
      return;
    }
    const edges = large.edges.filter(([source, target]) => source === node || target === node);
    const shown = edges.slice(0, MOST_NEIGHBOURS); // strongest first
    chooser.value = name;
    const which = shown.length < edges.length ? `, the ${shown.length} strongest drawn` : "";
    status.value = `${edges.length} edge${edges.length === 1 ? "" : "s"} of ${name}${which}`;
    document.getElementById("neighbourhood").replaceChildren(...drawNeighbourhood(node, shown), neighbourTable(node, edges));
    offerZoom();
  }

  if (chooser) {
    chooser.form.addEventListener("submit", (event) => event.preventDefault());
    for (const kind of ["input", "change"]) chooser.addEventListener(kind, () => showAround(chooser.value));
    document.getElementById("neighbourhood").addEventListener("click", (event) => {
      const other = event.target.closest("[data-node]");
      if (other) showAround(other.dataset.node);
    });
    showAround(large.names[large.start]);
  }

  // Runs of a cell

  const dialog = document.getElementById("runs");
  const data = dialog && JSON.parse(document.getElementById("data").textContent);

  const number = (value, digits = 4) => (value === null || value === undefined ? "–" : Number(value.toPrecision(digits)).toLocaleString("en").replace("-", "−"));

  function openCell(place) {
    const cell = data.cells[place];
    document.getElementById("runs-title").textContent = cell.title;
    const link = document.querySelector(`a[href="#cell-${place}"]`);
    const figures = all(".figures, .remark, .difference", link.parentElement).map((part) => part.cloneNode(true));
    document.getElementById("runs-figures").replaceChildren(...figures);
    const known = new Set(cell.runs.flatMap((run) => Object.keys(data.runs[run].measures)));
    const measures = [...known].filter((name) => name !== "iterations"); // in thousands; all have a column in full
    const heads = ["Data", "Outcome", ...measures, "CPU seconds", "Iterations", "Score"];
    const head = element("tr", {}, element("th", { scope: "col" }, "Graph"));
    heads.forEach((name, k) => head.append(element("th", { scope: "col", "aria-sort": "none", ...(k > 1 && { class: "number" }) }, element("button", { type: "button", class: "sort" }, name))));
    const body = element("tbody", {}, ...cell.runs.map((run) => runRow(run, measures)));
    document.getElementById("runs-table").replaceChildren(element("caption", {}, `${cell.runs.length} run${cell.runs.length === 1 ? "" : "s"}`), element("thead", {}, head), body);
    if (!dialog.open) dialog.showModal();
    showRun(cell.runs[0]);
  }

  function runRow(place, measures) {
    const run = data.runs[place], row = element("tr", { "data-run": place });
    const show = element("button", { type: "button", class: "show", "aria-label": `Show the run on ${run.data}` }, "show");
    show.addEventListener("click", () => {
      showRun(place);
      document.getElementById("run").scrollIntoView({ block: "nearest" });
    });
    row.append(element("td", {}, show), element("td", {}, run.data), element("td", {}, run.status));
    for (const name of measures) {
      const values = run.measures[name];
      row.append(element("td", { class: "number", "data-value": values?.[0] ?? "" }, values ? values.map((value) => number(value)).join(" to ") : "–"));
    }
    for (const value of [run.seconds, run.iterations, run.score]) {
      row.append(element("td", { class: "number", "data-value": value ?? "" }, number(value)));
    }
    return row;
  }

  function showRun(place) {
    const run = data.runs[place];
    for (const row of all("[data-run]", dialog)) row.setAttribute("aria-current", row.dataset.run === String(place));
    const parts = [element("h3", {}, `${run.method} on ${run.data}`)];
    if (run.error) parts.push(element("pre", {}, run.error));
    if (run.edges) parts.push(...drawGraph(data.graphs[run.graph], run.edges, data.height));
    else parts.push(element("p", { class: "note" }, "There is no graph."));
    const facts = element("dl", { class: "facts" });
    for (const [name, value] of Object.entries({ ...data.parameters[run.parameters], key: run.key })) {
      facts.append(element("div", {}, element("dt", {}, name), element("dd", {}, String(value))));
    }
    document.getElementById("run").replaceChildren(...parts, facts);
    offerZoom();
  }

  /** #cell-12 opens the runs of a cell, so that links to them can be kept and sent. */
  function follow() {
    const found = /^#cell-(\d+)$/.exec(location.hash);
    if (found && data.cells[Number(found[1])]?.runs.length) openCell(Number(found[1]));
    else if (dialog.open) dialog.close();
  }

  if (dialog) {
    dialog.querySelector("button.close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      if (location.hash.startsWith("#cell-")) history.pushState(null, "", location.pathname + location.search);
    });
    window.addEventListener("hashchange", follow);
    follow();
  }
}
