// Choosing a method, and the button. Options, help and limits are those that the library declares.

import { choice, counted, fill, make } from "./elements.js";
import { ask } from "./server.js";

export function learnPart(root, app) {
  const methods = new Map(app.choices.methods.map((method) => [method.name, method]));
  const wish = { method: app.choices.methods[0].name, preset: "default", seed: 0, changed: new Map() };
  const body = make("div");
  root.append(body);
  let known = "";

  function field(id, text, input, ...more) {
    return make("div", { class: "field" }, make("label", { for: id }, text), input, ...more);
  }

  function option(declared) {
    const usual = declared.defaults[wish.preset];
    const id = `option-${declared.name}`;
    const value = wish.changed.get(declared.name) ?? usual;
    const change = (word) => {
      if (word === "" || word === usual) wish.changed.delete(declared.name);
      else wish.changed.set(declared.name, word);
    };
    const help = make("small", { id: `${id}-help` }, `${declared.help} ${limits(declared)}`);
    const about = { id, "aria-describedby": help.id, name: declared.name };
    const input = declared.words.length
      ? choice(declared.words, value, { ...about, onchange: (event) => change(event.target.value) })
      : make("input", { type: "text", ...about, value: wish.changed.get(declared.name) ?? "", placeholder: usual, oninput: (event) => change(event.target.value.trim()) });
    return make("div", { class: "field option" }, make("label", { for: id }, declared.name.replaceAll("_", " ")), input, help);
  }

  const limits = (declared) => (declared.words.length ? "" : `Must be ${declared.limits}.`);

  function gaps(facts) {
    const out = app.leftOut.get(app.table) ?? new Set();
    const number = facts.columns.filter((column) => !out.has(column.name) && column.n_missing + (column.n_infinite ?? 0) > 0).length;
    if (!number) return null;
    const input = choice([["drop", "leave out rows with gaps"], ["impute", "fill in gaps, several times"], ["error", "do not learn"]], wish.missing ?? "drop", { id: "missing", onchange: (event) => (wish.missing = event.target.value) });
    return field("missing", `${counted(number, "column")} with gaps`, input);
  }

  async function learn() {
    const facts = app.facts.get(app.table);
    const parameters = Object.fromEntries(wish.changed);
    if (gaps(facts) !== null) parameters.missing = wish.missing ?? "drop";
    const message = { table: app.table, method: wish.method, preset: wish.preset, seed: Number(wish.seed), parameters, left_out: [...(app.leftOut.get(app.table) ?? [])] };
    const answer = await app.attempt(() => ask("api/fits", { method: "POST", message }));
    if (answer !== undefined) app.say(`Fit ${answer.id} is on its way.`);
  }

  function render() {
    const table = app.currentTable();
    const facts = app.facts.get(app.table);
    if (table === null || table.status !== "done" || facts === undefined) {
      fill(body, make("p", { class: "empty" }, "Choose a table first."));
      return;
    }
    const method = methods.get(wish.method);
    const out = app.leftOut.get(app.table) ?? new Set();
    const used = facts.columns.length - out.size;
    const again = () => {
      known = "";
      render();
    };
    const methodChoice = choice([...methods.keys()], wish.method, {
      id: "method",
      onchange: (event) => {
        wish.method = event.target.value;
        wish.changed.clear();
        if (!methods.get(wish.method).presets.includes(wish.preset)) wish.preset = "default";
        again();
        document.getElementById("method").focus();
      },
    });
    const preset = choice(method.presets, wish.preset, {
      id: "preset",
      onchange: (event) => {
        wish.preset = event.target.value;
        wish.changed.clear();
        again();
        document.getElementById("preset").focus();
      },
    });
    const seed = make("input", { type: "number", id: "seed", min: 0, step: 1, value: wish.seed, oninput: (event) => (wish.seed = event.target.value) });
    const isOpen = body.querySelector("details")?.open ?? false;
    fill(
      body,
      field("method", "Method", methodChoice, make("small", {}, method.description)),
      gaps(facts),
      make("details", { open: isOpen, id: "options" }, make("summary", {}, "Options"), field("preset", "Preset", preset), field("seed", "Seed", seed), method.options.filter((declared) => declared.name !== "missing").map(option)),
      make("button", { type: "button", id: "learn-button", class: "main", disabled: used < 2, onclick: learn }, "Learn the graph"),
      make("p", { class: "note" }, `From ${counted(used, "column")} of ${facts.columns.length}${used < 2 ? ": a graph needs at least two" : ""}.`),
    );
  }

  return {
    update() {
      const table = app.currentTable();
      const key = JSON.stringify([app.table, table?.status, app.facts.has(app.table), [...(app.leftOut.get(app.table) ?? [])]]);
      if (key === known) return;
      known = key;
      render();
    },
  };
}
