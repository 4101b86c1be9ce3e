// Choosing a table: drop a file, take a bundled one, simulate one.

import { choice, fill, make } from "./elements.js";
import { ask, send } from "./server.js";

export function dataPart(root, app) {
  const chooser = make("div");
  const bar = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "Upload" });
  const trouble = make("p", { class: "trouble", role: "alert", hidden: true });
  const input = make("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.tab,.parquet,.pq,.npy,.gz,.bz2,.xz,.zip", onchange: () => upload(input.files[0]) });
  const drop = make(
    "div",
    { class: "drop", id: "drop" },
    make("label", { for: "file" }, "Drop a CSV, TSV or Parquet file here, or choose one:"),
    input,
    bar,
    trouble,
  );
  const more = make("details", { open: true, id: "more-data" }, make("summary", {}, "Another table"), drop);
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      more.open = true;
      drop.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) upload(event.dataTransfer.files[0]);
  });

  function complain(text) {
    trouble.textContent = text;
    trouble.hidden = text === "";
  }

  async function upload(file) {
    if (!file) return;
    complain("");
    if (file.size > app.choices.most_bytes) {
      complain(`${file.name} is larger than ${Math.round(app.choices.most_bytes / 1e6).toLocaleString("en")} MB: start the server with --max-upload for larger ones.`);
      return;
    }
    bar.hidden = false;
    bar.value = 0;
    try {
      const { id } = await send(`api/tables?name=${encodeURIComponent(file.name)}`, file, (share) => (bar.value = share));
      app.table = id;
      app.fit = null;
      app.show("table");
    } catch (error) {
      complain(error.message);
    } finally {
      bar.hidden = true;
      input.value = "";
    }
  }

  async function take(message) {
    const answer = await app.attempt(() => ask("api/tables", { method: "POST", message }));
    if (answer !== undefined) {
      app.table = answer.id;
      app.chooseTable(answer.id);
    }
  }

  const bundled = app.choices.datasets.map((name) =>
    make("button", { type: "button", class: "plain", "data-bundled": name, onclick: () => take({ bundled: name }) }, `Bundled: ${name}`),
  );
  more.append(make("div", { class: "row" }, bundled), simulation(app, take));
  root.append(chooser, more);

  let known = "";
  let hadTables = false;
  return {
    update() {
      const tables = app.state.tables;
      const key = JSON.stringify([tables.map((table) => [table.id, table.name, table.status]), app.table]);
      if (key === known) return;
      known = key;
      if (!tables.length) {
        fill(chooser, make("p", { class: "empty" }, "No table yet. Everything stays on this machine."));
        return;
      }
      const select = choice(tables.map((table) => [table.id, `${table.id}: ${table.name}`]), app.table, {
        id: "table-choice",
        onchange: (event) => app.chooseTable(Number(event.target.value)),
      });
      fill(chooser, make("div", { class: "field" }, make("label", { for: "table-choice" }, "Table"), select), status(app));
      if (!hadTables) more.open = false;
      hadTables = true;
    },
  };
}

function status(app) {
  const table = app.currentTable();
  if (table === null) return null;
  if (table.status === "failed") return make("p", { class: "trouble", role: "alert" }, table.message);
  if (table.status !== "done") return make("p", { class: "busy", role: "status" }, "Reading the table …");
  return make("button", { type: "button", class: "plain", onclick: () => app.show("table") }, "Look at its columns");
}

function simulation(app, take) {
  const field = (id, text, input) => make("div", { class: "field" }, make("label", { for: id }, text), input);
  const mechanism = choice(app.choices.mechanisms, "gauss-anm", { id: "mechanism" });
  const graph = choice([["", "as usual"], ...app.choices.graphs], "", { id: "graph-kind" });
  const numbers = { n_nodes: "Variables", n_edges: "Edges", n_rows: "Rows", seed: "Seed" };
  const inputs = Object.entries(numbers).map(([name]) =>
    make("input", { type: "number", id: `simulate-${name}`, min: name === "seed" ? 0 : 1, value: name === "seed" ? "0" : "", placeholder: "usual", name }),
  );
  const go = () => {
    const options = { mechanism: mechanism.value, graph: graph.value || null };
    for (const input of inputs) options[input.name] = input.value === "" ? null : Number(input.value);
    if (options.seed === null) options.seed = 0;
    take({ simulation: options });
  };
  return make(
    "details",
    { id: "simulation" },
    make("summary", {}, "Simulate a table with a known graph"),
    field("mechanism", "Mechanism", mechanism),
    field("graph-kind", "Graph", graph),
    ...inputs.map((input) => field(input.id, numbers[input.name], input)),
    make("button", { type: "button", onclick: go }, "Simulate"),
  );
}

