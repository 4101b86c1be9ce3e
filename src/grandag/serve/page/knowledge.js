// What is known before the next fit: listed, taken back one by one or in order, and saved.

import { fill, make } from "./elements.js";
import { ask } from "./server.js";

/** One edit of the knowledge about a table. */
export async function edit(app, table, word, names = []) {
  const done = await app.attempt(async () => {
    await ask(`api/tables/${table}/knowledge`, { method: "POST", message: { edit: word, names } });
    return true;
  });
  if (done) app.say(word === "undo" ? "Took back the last edit." : "Noted. It counts from the next fit on.");
  return done === true;
}

/** What is known of one edge or node, in words. */
export function knownOf(knowledge, names) {
  const has = (pairs, pair) => (pairs ?? []).some(([cause, effect]) => cause === pair[0] && effect === pair[1]);
  if (names.length === 2) {
    if (has(knowledge.forbidden, names)) return "forbidden";
    return has(knowledge.required, names) ? "required" : "";
  }
  const words = [];
  if ((knowledge.roots ?? []).includes(names[0])) words.push("root");
  if ((knowledge.leaves ?? []).includes(names[0])) words.push("leaf");
  const tier = (knowledge.tiers ?? []).findIndex((members) => members.includes(names[0]));
  if (tier >= 0) words.push(`tier ${tier}`);
  return words.join(", ");
}

export function knowledgePart(root, app) {
  const body = make("div");
  root.append(body);
  let known = "";

  function entries(table) {
    const about = table.knowledge;
    const pair = (word) => ([cause, effect]) => [`${cause} → ${effect}`, word, "free", [cause, effect]];
    return [
      ...(about.forbidden ?? []).map(pair("forbidden")),
      ...(about.required ?? []).map(pair("required")),
      ...(about.roots ?? []).map((name) => [name, "root: nothing causes it", "free", [name]]),
      ...(about.leaves ?? []).map((name) => [name, "leaf: it causes nothing", "free", [name]]),
      ...(about.tiers ?? []).flatMap((members, tier) => members.map((name) => [name, `tier ${tier}`, "tier", [name]])),
    ];
  }

  function render() {
    const table = app.currentTable();
    if (table === null) {
      fill(body, make("p", { class: "empty" }, "Nothing yet."));
      return;
    }
    const listed = entries(table);
    fill(
      body,
      listed.length
        ? make("ul", { class: "known" }, listed.map(([text, word, undo, names]) =>
            make("li", {}, make("span", {}, make("strong", {}, text), ` ${word}`),
              make("button", { type: "button", class: "plain", "aria-label": `Forget: ${text} ${word}`, onclick: () => edit(app, table.id, undo, names) }, "Forget"))))
        : make("p", { class: "empty" }, "Nothing yet. Click an edge or a node of the graph to say what cannot be, or must be."),
      make("div", { class: "row" },
        make("button", { type: "button", class: "plain", id: "undo", disabled: !table.can_undo, onclick: () => edit(app, table.id, "undo") }, "Undo"),
        listed.length > 0 && make("button", { type: "button", class: "plain", onclick: () => edit(app, table.id, "clear") }, "Forget all"),
        listed.length > 0 && make("a", { class: "button plain", href: `api/tables/${table.id}/knowledge.toml`, download: true }, "Save as a file")),
    );
  }

  return {
    update() {
      const table = app.currentTable();
      const key = JSON.stringify([table?.id, table?.knowledge, table?.can_undo]);
      if (key === known) return;
      known = key;
      render();
    },
  };
}
