// Elements with attributes and children. Texts stay texts: nothing here, or anywhere else, makes HTML of a string.

const SVG = "http://www.w3.org/2000/svg";
const DRAWN = new Set(["svg", "g", "path", "rect", "text", "title", "polygon", "line", "circle"]);

/** A new element; attributes that begin with "on" are listeners, false and null leave an attribute out. */
export function make(name, attributes = {}, ...children) {
  const made = DRAWN.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value") made.value = value;
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Everything inside is replaced. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return parent;
}

/** A choice; options are texts, or pairs of value and text. */
export function choice(options, chosen, attributes = {}) {
  const made = make("select", attributes);
  for (const option of options) {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    made.append(make("option", { value, selected: String(value) === String(chosen) }, text));
  }
  made.value = chosen;
  return made;
}

/** A number for people, in four digits. */
export function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size >= 1e6 || size < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return text.replace("-", "\u2212");
}

/** A number with its noun. */
export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** The arrow between two nodes. */
export const arrow = (directed) => (directed ? "→" : "—");

/** Seconds for people. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
