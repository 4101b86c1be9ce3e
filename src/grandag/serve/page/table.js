// The columns of a table: kind, range, gaps, distribution, and what is wrong, said where it is wrong.

import { counted, fill, make, shown } from "./elements.js";
import { ask } from "./server.js";
import { histogram } from "./charts.js";

const MOST_ROWS = 200;

export function tablePart(root, app) {
  let known = "";
  let filter = "";

  async function load(table) {
    const facts = await app.attempt(() => ask(`api/tables/${table.id}`));
    if (facts === undefined) return;
    app.facts.set(table.id, facts);
    if (!app.leftOut.has(table.id)) {
      const last = app.state.fits.filter((fit) => fit.table === table.id).at(-1);
      const unusable = facts.columns.filter((column) => column.problem !== null).map((column) => column.name);
      app.leftOut.set(table.id, new Set([...unusable, ...(last?.left_out ?? [])]));
    }
    app.update();
  }

  function render() {
    const table = app.currentTable();
    if (table === null) {
      fill(root, make("h2", {}, "No table yet"), make("p", { class: "empty" }, "Drop a file on the left, or choose a bundled or simulated table. Then press Learn: the graph appears here."));
      return;
    }
    const title = make("h2", {}, table.name);
    if (table.status === "failed") {
      fill(root, title, make("p", { class: "trouble", role: "alert" }, table.message), readingForm(table, app, true));
      return;
    }
    const facts = app.facts.get(table.id);
    if (table.status !== "done" || facts === undefined) {
      fill(root, title, make("p", { class: "busy", role: "status" }, "Reading the table …"));
      return;
    }
    fill(root, title, summary(facts), listing(table, facts), table.origin === "file" && readingForm(table, app, false), truthForm(table, app));
  }

  function listing(table, facts) {
    const wanted = facts.columns.filter((column) => column.name.toLowerCase().includes(filter.toLowerCase()));
    const rows = wanted.slice(0, MOST_ROWS).map((column) => row(column, table, facts, app));
    const body = make("tbody", {}, rows);
    const search = make("input", {
      type: "search", id: "column-filter", value: filter, placeholder: "part of a name",
      oninput: (event) => {
        filter = event.target.value;
        render();
        const again = document.getElementById("column-filter");
        again.focus();
        again.setSelectionRange(filter.length, filter.length);
      },
    });
    const many = facts.columns.length > 20;
    const left = wanted.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${wanted.length.toLocaleString("en")} columns are listed; find others by name.` : "";
    return [
      many && make("div", { class: "field" }, make("label", { for: "column-filter" }, "Find a column"), search),
      left && make("p", { class: "note" }, left),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns of the table" },
        make("table", { class: "columns-table" },
          make("thead", {}, make("tr", {}, ["Use", "Column", "Kind", "Range", "Gaps", "Distribution", "To know"].map((text) => make("th", { scope: "col" }, text)))),
          body)),
    ];
  }

  return {
    update() {
      const table = app.currentTable();
      if (app.tab !== "table") {
        if (table?.status === "done" && !app.facts.has(table.id)) load(table);
        return;
      }
      const key = JSON.stringify([table?.id, table?.status, table?.message, table?.has_truth, table?.options, app.facts.has(table?.id), [...(app.leftOut.get(table?.id) ?? [])]]);
      if (table?.status === "done" && !app.facts.has(table.id)) load(table);
      if (table !== null && table.status !== "done") app.facts.delete(table.id);
      if (key === known) return;
      known = key;
      render();
    },
  };
}

function summary(facts) {
  const gaps = facts.n_rows - facts.n_complete;
  const general = facts.concerns.filter((concern) => !concern.variables.length);
  return [
    make("p", {}, `${counted(facts.n_rows, "row")}, ${counted(facts.columns.length, "column")}${gaps && facts.n_complete ? `; ${counted(gaps, "row")} with gaps` : ""}.`),
    facts.problem && make("p", { class: "trouble", role: "alert" }, facts.problem),
    facts.notes.map((note) => make("p", { class: "note" }, note)),
    general.map((concern) => make("p", { class: "concern" }, make("strong", {}, `${concern.kind}. `), concern.message)),
  ];
}

function row(column, table, facts, app) {
  const out = app.leftOut.get(table.id);
  const about = facts.concerns.filter((concern) => concern.variables.includes(column.name));
  const box = make("input", {
    type: "checkbox", checked: !out.has(column.name), "aria-label": `Use ${column.name}`, disabled: column.kind === "empty",
    onchange: (event) => {
      if (event.target.checked) out.delete(column.name);
      else out.add(column.name);
      app.update();
    },
  });
  const range = column.minimum === undefined ? "–" : `${shown(column.minimum)} to ${shown(column.maximum)}`;
  const gaps = column.n_missing + (column.n_infinite ?? 0);
  const label = `Distribution of ${column.name}`;
  const drawn = column.counts ? histogram(column.counts, label) : (column.common ?? []).map(([text, count]) => `${text} (${count})`).join(", ") || "–";
  const words = [column.problem, ...about.map((concern) => concern.message)].filter(Boolean);
  return make("tr", { class: column.problem ? "unusable" : out.has(column.name) ? "left-out" : "" },
    make("td", {}, box),
    make("th", { scope: "row" }, column.name),
    make("td", {}, column.kind),
    make("td", { class: "number" }, range),
    make("td", { class: "number" }, gaps ? gaps.toLocaleString("en") : "none"),
    make("td", {}, drawn),
    make("td", { class: "words" }, words.map((text) => make("p", {}, text))));
}

function readingForm(table, app, isOpen) {
  const fields = { separator: "Between columns (, ; tab space)", decimal: "Decimal point", encoding: "Encoding", na_values: "Texts for missing values", exclude: "Columns not to read" };
  const inputs = Object.entries(fields).map(([name, text]) => {
    const value = table.options[name] ?? "";
    const word = { "\t": "tab", "\\s+": "space" }[value] ?? (Array.isArray(value) ? value.join(", ") : value);
    return [text, make("input", { type: "text", id: `reading-${name}`, name, value: word, placeholder: "found in the file" })];
  });
  const again = () => app.attempt(() => ask(`api/tables/${table.id}/reading`, { method: "POST", message: Object.fromEntries(inputs.map(([, input]) => [input.name, input.value])) }));
  return make("details", { open: isOpen }, make("summary", {}, "Read the file in another way"),
    inputs.map(([text, input]) => make("div", { class: "field" }, make("label", { for: input.id }, text), input)),
    make("button", { type: "button", onclick: again }, "Read again"));
}

function truthForm(table, app) {
  const input = make("input", {
    type: "file", id: "truth",
    onchange: async () => {
      const file = input.files[0];
      if (!file) return;
      const done = await app.attempt(async () => {
        const response = await fetch(`api/tables/${table.id}/truth?name=${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
        const answer = await response.json();
        if (!response.ok) throw new Error(answer.error);
        return true;
      });
      if (done) app.say("The true graph is known now: see Compare.");
      input.value = "";
    },
  });
  const words = table.has_truth ? "The true graph of this table is known: see Compare." : "If you know the true graph, give it for comparison (DOT, GML, GraphML, JSON, dagitty, CSV).";
  return make("details", {}, make("summary", {}, "True graph"), make("p", {}, words), table.origin !== "bundled" && make("div", { class: "field" }, make("label", { for: "truth" }, "File with the graph"), input));
}
