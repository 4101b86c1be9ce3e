// Search in the page itself, in the place of mkdocs' worker: see tools/offline_search.py.
"use strict";

(function () {
  const input = document.getElementById("mkdocs-search-query");
  const results = document.getElementById("mkdocs-search-results");
  if (!input) return; // only the page of results searches

  function load(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${base_url}/search/${name}`;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${name} could not be loaded`));
      document.head.append(script);
    });
  }

  function build() {
    lunr.tokenizer.separator = new RegExp(searchIndex.separator);
    return lunr(function () {
      this.ref("location");
      this.field("title", { boost: 10 });
      this.field("text");
      searchIndex.sections.forEach((section) => this.add(section));
    });
  }

  // Stems of the words that count: "intervals" finds "interval", and what is half typed finds its ends.
  function stems(query) {
    return lunr
      .tokenizer(query)
      .map((token) => lunr.trimmer(token))
      .filter((token) => token.toString() && lunr.stopWordFilter(token))
      .map((token) => lunr.stemmer(token).toString());
  }

  function search(index, words) {
    if (!words.length) return [];
    return index.query((query) => {
      for (const term of words) {
        query.term(term, { wildcard: lunr.Query.wildcard.TRAILING, presence: lunr.Query.presence.REQUIRED });
        query.term(term, { boost: 10 }); // the whole word comes before longer ones
      }
    });
  }

  // The text around the first word that was found, with all of them marked.
  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const found = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    const start = found.length ? Math.max(0, Math.min(...found) - 80) : 0;
    const paragraph = document.createElement("p");
    const pattern = new RegExp(`(${words.map((word) => word.replace(/[^\w]/g, "\\$&")).join("|")})`, "i");
    const shown = `${start ? "… " : ""}${text.slice(start, start + 240)} …`;
    shown.split(pattern).forEach((part, place) => {
      const node = place % 2 ? document.createElement("mark") : document.createElement("span");
      node.textContent = part;
      paragraph.append(node);
    });
    return paragraph;
  }

  function entry(section, words) {
    const article = document.createElement("article");
    const heading = document.createElement("h3");
    const link = document.createElement("a");
    link.href = `${base_url}/${section.location}`;
    link.textContent = section.page === section.title ? section.title : `${section.page}: ${section.title}`;
    heading.append(link);
    article.append(heading, excerpt(section.text, words));
    return article;
  }

  function show(index, byLocation) {
    const words = stems(input.value);
    const found = search(index, words).map((match) => byLocation.get(match.ref));
    results.replaceChildren(...found.slice(0, 50).map((section) => entry(section, words)));
    if (!found.length) results.textContent = words.length ? "Nothing found." : "Type a word to search for.";
  }

  async function start() {
    input.value = new URLSearchParams(location.search).get("q") || "";
    await load("lunr.js");
    await load("search_index.js");
    const index = build();
    const byLocation = new Map(searchIndex.sections.map((section) => [section.location, section]));
    input.addEventListener("input", () => show(index, byLocation));
    show(index, byLocation);
  }

  start().catch((error) => {
    results.textContent = `The search does not work here: ${error.message}.`;
  });
})();
