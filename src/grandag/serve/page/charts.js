// Small charts: histograms and the curve of an edge. A text beside each says the same to who does not see it.

import { make, shown } from "./elements.js";

/** Bars of a distribution. */
export function histogram(counts, label, { width = 120, height = 32 } = {}) {
  const top = Math.max(...counts, 1);
  const step = width / counts.length;
  const bars = counts.map((count, place) => {
    const size = (height - 1) * (count / top);
    return make("rect", { x: (place * step).toFixed(1), y: (height - size).toFixed(1), width: Math.max(step - 1, 0.5).toFixed(1), height: size.toFixed(1) });
  });
  return make("svg", { class: "histogram", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, width, height }, bars);
}

/** Two distributions over the same range: before as an outline, after as bars. */
export function twoHistograms(variable, { width = 220, height = 70 } = {}) {
  const { before, after } = variable.counts;
  const top = Math.max(...before, ...after, 1);
  const step = width / before.length;
  const y = (count) => height - (height - 2) * (count / top);
  const bars = after.map((count, place) =>
    make("rect", { x: (place * step).toFixed(1), y: y(count).toFixed(1), width: Math.max(step - 1, 0.5).toFixed(1), height: (height - y(count)).toFixed(1) }),
  );
  const line = before.map((count, place) => `${place ? "L" : "M"}${(place * step).toFixed(1)} ${y(count).toFixed(1)}h${step.toFixed(1)}`).join("");
  const label = `${variable.name}: mean ${shown(variable.means.before)} before, ${shown(variable.means.after)} after`;
  return make("svg", { class: "two", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, make("g", { class: "after" }, bars), make("path", { class: "before", d: line }));
}

/** The effect of labels: a line for each value of the cause, a column for each label of the effect, or its mean. */
export function labelTable(found) {
  const heads = found.labels.map((label) => make("th", { scope: "col" }, label === "" ? `mean of ${found.target}` : `${found.target} = ${label}`));
  const line = (place, row) => make("tr", {}, make("th", { scope: "row" }, place), found.height[row].map((value) => make("td", { class: "number" }, shown(value))));
  return make("div", { class: "scroll curve" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, found.source), heads)), make("tbody", {}, found.places.map(line))));
}

/** The curve of an edge with its band, and rows of the table. */
export function curveChart(curve, { width = 280, height = 150 } = {}) {
  const left = 6;
  const inner = { width: width - 2 * left, height: height - 26 };
  const sorted = [...curve.partial_residual].sort((one, other) => one - other);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(share * (sorted.length - 1))))];
  const low = Math.min(at(0.02), ...curve.low);
  const high = Math.max(at(0.98), ...curve.high);
  const [first, last] = [curve.x[0], curve.x.at(-1)];
  const x = (value) => left + (inner.width * (value - first)) / (last - first || 1);
  const y = (value) => 4 + inner.height * (1 - (Math.min(Math.max(value, low), high) - low) / (high - low || 1));
  const points = (xs, ys) => xs.map((value, place) => `${x(value).toFixed(1)} ${y(ys[place]).toFixed(1)}`);
  const dots = points(curve.parent, curve.partial_residual).map((point) => `M${point}h0`).join("");
  const band = [...points(curve.x, curve.low), ...points([...curve.x].reverse(), [...curve.high].reverse())];
  const text = (value, place, anchor) => make("text", { x: place, y: height - 6, "text-anchor": anchor }, shown(value));
  const label = `Effect of ${curve.source} on ${curve.target}: from ${shown(curve.effect[0])} at ${shown(first)} to ${shown(curve.effect.at(-1))} at ${shown(last)}`;
  return make(
    "svg",
    { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    make("path", { class: "dots", d: dots }),
    make("polygon", { class: "band", points: band.join(" ") }),
    make("path", { class: "line", d: `M${points(curve.x, curve.effect).join("L")}` }),
    text(first, left, "start"),
    text(last, width - left, "end"),
    make("text", { x: width / 2, y: height - 6, "text-anchor": "middle" }, curve.source),
  );
}
