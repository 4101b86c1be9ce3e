// The workbench: what is chosen, what the server says, and the parts of the page that show it.

import { fill, make } from "./elements.js";
import { ask, listen } from "./server.js";
import { dataPart } from "./data.js";
import { tablePart } from "./table.js";
import { learnPart } from "./learn.js";
import { fitsPart } from "./fits.js";
import { knowledgePart } from "./knowledge.js";
import { graphPart } from "./graph.js";
import { comparePart } from "./compare.js";
import { whatIfPart } from "./what_if.js";
import { takeAwayPart } from "./take_away.js";

const TABS = { table: "Table", graph: "Graph", compare: "Compare", "what-if": "What if", "take-away": "Take away" };

/** Everything that parts of the page share. */
const app = {
  state: { tables: [], fits: [], running: {} },
  choices: null,
  table: null, // numbers of what is looked at
  fit: null,
  tab: "table",
  leftOut: new Map(), // columns by table
  facts: new Map(), // of tables, by number
  views: new Map(), // of fits, by number

  say(text, isError = false) {
    const said = document.getElementById("said");
    said.textContent = text;
    said.classList.toggle("error", isError);
  },
  /** Do something that may fail; the person hears why. */
  async attempt(work) {
    try {
      return await work();
    } catch (error) {
      if (error.name !== "AbortError") app.say(error.message, true);
      return undefined;
    }
  },
  currentTable: () => app.state.tables.find((table) => table.id === app.table) ?? null,
  currentFit: () => app.state.fits.find((fit) => fit.id === app.fit) ?? null,
  isShown: (fit) => fit !== null && fit.headline !== "",
  /** A fit's graph and facts, asked for once. */
  async view(fit) {
    const key = `${fit.id} ${fit.n_resamples} ${fit.refits} ${fit.headline}`;
    if (app.views.get(fit.id)?.key !== key) app.views.set(fit.id, { key, view: ask(`api/fits/${fit.id}`) });
    return app.views.get(fit.id).view;
  },
  chooseTable(number) {
    app.table = number;
    const latest = app.state.fits.filter((fit) => fit.table === number && app.isShown(fit)).at(-1);
    app.fit = latest?.id ?? null;
    app.show(latest ? app.tab : "table");
  },
  chooseFit(number) {
    app.fit = number;
    app.table = app.currentFit()?.table ?? app.table;
    app.show(["table"].includes(app.tab) ? "graph" : app.tab);
  },
  show(tab) {
    app.tab = tab;
    for (const name of Object.keys(TABS)) {
      const button = document.getElementById(`tab-${name}`);
      button.setAttribute("aria-selected", name === tab);
      button.tabIndex = name === tab ? 0 : -1;
      document.getElementById(`panel-${name}`).hidden = name !== tab;
    }
    app.update();
  },
  update() {
    for (const part of parts) part.update();
  },
};

let parts = [];

function makeTabs() {
  const names = Object.keys(TABS);
  const buttons = names.map((name) =>
    make("button", { role: "tab", id: `tab-${name}`, type: "button", "aria-controls": `panel-${name}`, onclick: () => app.show(name) }, TABS[name]),
  );
  const list = fill(document.getElementById("tabs"), buttons);
  list.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    if (!(event.key in steps)) return;
    const next = (names.indexOf(app.tab) + steps[event.key] + names.length) % names.length;
    app.show(names[next]);
    buttons[next].focus();
  });
}

let isFirst = true;
let shownBefore = new Set();

/** What the server says: the first graph that is new is shown. */
function receive(state) {
  app.state = state;
  const shown = state.fits.filter(app.isShown);
  const news = shown.filter((fit) => !shownBefore.has(fit.id)).at(-1);
  shownBefore = new Set(shown.map((fit) => fit.id));
  if (app.table === null || app.currentTable() === null) {
    app.table = shown.at(-1)?.table ?? state.tables.at(-1)?.id ?? null;
  }
  if (app.fit !== null && app.currentFit() === null) app.fit = shown.filter((fit) => fit.table === app.table).at(-1)?.id ?? null;
  if (news !== undefined) {
    app.fit = news.id;
    app.table = news.table;
    if (!isFirst) app.say(`Fit ${news.id} is done: ${news.headline}.`);
    app.show(isFirst || app.tab === "table" ? "graph" : app.tab);
    if (!isFirst && window.matchMedia("(max-width: 46rem)").matches) document.getElementById("main").scrollIntoView();
  } else if (isFirst) app.show("table");
  else app.update();
  isFirst = false;
}

async function begin() {
  makeTabs();
  app.choices = await app.attempt(() => ask("api/choices"));
  if (app.choices === undefined) return;
  const at = (id) => document.getElementById(id);
  parts = [
    dataPart(at("data"), app),
    learnPart(at("learn"), app),
    fitsPart(at("fits"), app),
    knowledgePart(at("knowledge"), app),
    tablePart(at("panel-table"), app),
    graphPart(at("panel-graph"), app),
    comparePart(at("panel-compare"), app),
    whatIfPart(at("panel-what-if"), app),
    takeAwayPart(at("panel-take-away"), app),
  ];
  let isLost = false;
  listen({
    state: receive,
    progress(progress) {
      app.state.running = progress;
      for (const part of parts) part.progress?.(progress);
    },
    lost() {
      isLost = true;
      app.say("The server does not answer. It may have been ended; this page connects again when it is back.", true);
    },
    found() {
      if (isLost) app.say("Connected again.");
      isLost = false;
    },
  });
}

begin();
