// Boxes and lines of a graph in SVG, which can be zoomed, moved and focused.

import { arrow, fill, make } from "./elements.js";

const HEAD = 9;

/** Where the line from the middle of a box to a point leaves the box. */
function border(box, x, y) {
  const [cx, cy] = [box.x + box.width / 2, box.y + box.height / 2];
  const [dx, dy] = [x - cx, y - cy];
  if (!dx && !dy) return [cx, cy];
  const share = Math.min(box.width / 2 / Math.abs(dx || 1e-9), box.height / 2 / Math.abs(dy || 1e-9));
  return [cx + dx * share, cy + dy * share];
}

/** A straight line between two boxes, and the corners of its head at the second. */
export function straight(from, to, { directed = true, shift = 0 } = {}) {
  const middle = (box) => [box.x + box.width / 2 + shift, box.y + box.height / 2];
  const start = border(from, ...middle(to));
  const end = border(to, ...middle(from));
  const length = Math.hypot(end[0] - start[0], end[1] - start[1]) || 1;
  const [ux, uy] = [(end[0] - start[0]) / length, (end[1] - start[1]) / length];
  const base = directed ? [end[0] - HEAD * ux, end[1] - HEAD * uy] : end;
  const text = (point) => `${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
  const corners = [end, [base[0] - 4 * uy, base[1] + 4 * ux], [base[0] + 4 * uy, base[1] - 4 * ux]];
  return { path: `M${text(start)}L${text(base)}`, head: directed ? corners.map(text).join(" ") : "" };
}

/** A line with a wide invisible one around it, to be hit easily. */
export function lineGroup(shape, attributes, look = {}) {
  return make(
    "g",
    { class: "edge", ...attributes },
    make("path", { class: "hit", d: shape.path }),
    make("path", { class: "line", d: shape.path, ...look }),
    shape.head && make("polygon", { class: "head", points: shape.head }),
  );
}

export function boxGroup(node, attributes = {}) {
  return make(
    "g",
    { class: "node", "data-node": node.name, transform: `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`, ...attributes },
    make("title", {}, node.name),
    make("rect", { width: node.width.toFixed(1), height: node.height, rx: 7 }),
    make("text", { x: (node.width / 2).toFixed(1), y: node.height / 2 + 4.5 }, node.name),
  );
}

export const edgeName = (edge) => `${edge.source} ${arrow(edge.directed)} ${edge.target}`;

/** A picture that can be zoomed by wheel, keys and buttons, and moved with the pointer. */
export class Canvas {
  constructor(label) {
    this.svg = make("svg", { class: "canvas", role: "group", "aria-label": label, preserveAspectRatio: "xMidYMid meet" });
    this.frame = [0, 0, 100, 100];
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, this.place(event));
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.#begin(event));
  }

  show(frame, ...children) {
    this.whole = frame;
    fill(this.svg, ...children);
    this.svg.style.aspectRatio = `${frame[2]} / ${frame[3]}`;
    this.fit();
  }

  fit() {
    this.#set([...this.whole]);
  }

  /** The point of the drawing below the pointer. */
  place(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  zoom(factor, [x, y] = [this.frame[0] + this.frame[2] / 2, this.frame[1] + this.frame[3] / 2]) {
    const [left, top, width, height] = this.frame;
    const limited = Math.min(Math.max(width * factor, 60), 4 * this.whole[2] + 400) / width;
    this.#set([x - (x - left) * limited, y - (y - top) * limited, width * limited, height * limited]);
  }

  /** Bring a box into the middle. */
  centre(box) {
    const [, , width, height] = this.frame;
    this.#set([box.x + box.width / 2 - width / 2, box.y + box.height / 2 - height / 2, width, height]);
  }

  #set(frame) {
    this.frame = frame;
    this.svg.setAttribute("viewBox", frame.map((value) => value.toFixed(1)).join(" "));
  }

  #begin(event) {
    if (event.button !== 0 || event.target.closest(".node, .edge")) return;
    const matrix = this.svg.getScreenCTM();
    const start = [event.clientX, event.clientY, ...this.frame];
    const move = (later) => {
      const [x, y, left, top, width, height] = start;
      this.#set([left - (later.clientX - x) / matrix.a, top - (later.clientY - y) / matrix.d, width, height]);
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
}
