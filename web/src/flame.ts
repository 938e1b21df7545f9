// Leaked bytes by stack, as a flame graph that hangs from its root. Our own, since
// the libraries bring d3 with them, which is larger than the whole page.
//
// A rectangle per function and its callers; the width is what leaked below it.
// What is narrower than half a pixel is not drawn, so the size of the drawing is
// bounded by its width. A click (or Enter) makes a function the root.

import { fill, h, s } from "./dom";
import { bytes, percent, plural } from "./format";
import type { Model, Row } from "./model";
import { save_button } from "./svg_save";

interface Node { name: string; value: number; leaks: number; children: Map<string, Node>; parent: Node | undefined }

const ROW = 22;
const LETTER = 6.7; // width of a letter, about
const MOST_DEPTH = 120;

export function build_tree(model: Model, rows: Row[], by: "allocation" | "loss"): { root: Node; without: number } {
  const root: Node = { name: "all", value: 0, leaks: 0, children: new Map(), parent: undefined };
  let without = 0;
  for (const row of rows) {
    const frames = model.program_frames(row, by);
    if (frames.length === 0) {
      ++without;
      continue;
    }
    const value = model.is_static ? 1 : row.bytes;
    let node = root;
    node.value += value;
    ++node.leaks;
    for (let i = frames.length - 1; i >= Math.max(0, frames.length - MOST_DEPTH); --i) {
      const name = model.function_of(frames[i]!);
      let child = node.children.get(name);
      if (!child) {
        child = { name, value: 0, leaks: 0, children: new Map(), parent: node };
        node.children.set(name, child);
      }
      child.value += value;
      ++child.leaks;
      node = child;
    }
  }
  return { root, without };
}

function colour_of(name: string): number {
  let hash = 2166136261;
  for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619) >>> 0;
  return ((hash >>> 15) ^ hash) % 6;
}

interface Box { node: Node; x: number; width: number; depth: number }

// The boxes that are wide enough to be seen, parents first.
function boxes_of(root: Node, width: number): Box[] {
  const boxes: Box[] = [];
  const work: Box[] = [{ node: root, x: 0, width, depth: 0 }];
  while (work.length > 0) {
    const box = work.pop()!;
    boxes.push(box);
    let x = box.x;
    const children = [...box.node.children.values()].sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
    for (const child of children) {
      const part = box.node.value ? (box.width * child.value) / box.node.value : 0;
      if (part >= 0.5) work.push({ node: child, x, width: part, depth: box.depth + 1 });
      x += part;
    }
  }
  return boxes.sort((a, b) => a.depth - b.depth || a.x - b.x);
}

export class Flame {
  readonly element: HTMLElement;
  private readonly drawing = h("div", { class: "flame-drawing" });
  private readonly words = h("p", { class: "flame-words", role: "status" });
  private readonly trail = h("p", { class: "flame-trail" });
  private zoomed: Node;
  private readonly root: Node;
  private readonly groups = new Map<Node, SVGGElement>();

  constructor(private readonly model: Model, rows: Row[], private readonly by: "allocation" | "loss") {
    const { root, without } = build_tree(model, rows, by);
    this.root = root;
    this.zoomed = root;
    const name = `leaks-by-${by}`;
    this.element = h("div", { class: "flame" },
      root.value === 0 && h("p", { class: "empty" }, by === "loss"
        ? "Of none of these leaks the place of the loss is known." : "There is nothing to draw."),
      h("div", { class: "flame-head" }, this.trail, save_button(name, () => this.drawing.querySelector("svg"))),
      this.drawing, this.words,
      without > 0 && root.value > 0 && h("p", { class: "flame-note" }, `${plural(without, "leak")} without such a stack not drawn.`));
    if (root.value === 0) this.element.querySelector(".flame-head")?.remove();
  }

  // After the element is in the page, and whenever its width changes.
  draw(): void {
    if (this.root.value === 0) return;
    const width = Math.max(300, this.drawing.clientWidth || 900);
    const boxes = boxes_of(this.zoomed, width);
    const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
    this.groups.clear();
    const svg = s("svg", {
      class: "flame-svg", width, height: (depth + 1) * ROW + 2, viewBox: `0 0 ${width} ${(depth + 1) * ROW + 2}`,
      role: "tree", "aria-label": `Leaked ${this.model.is_static ? "findings" : "bytes"} by ${this.by} stack`,
      onkeydown: (event: KeyboardEvent) => this.key(event),
    }, boxes.map((box, i) => this.box(box, i === 0)));
    fill(this.drawing, svg);
    this.describe(this.zoomed);
    const path: Node[] = [];
    for (let node: Node | undefined = this.zoomed; node; node = node.parent) path.unshift(node);
    fill(this.trail, path.map((node, i) => [i > 0 && " › ", i === path.length - 1 ? node.name
      : h("button", { type: "button", class: "link", onclick: () => this.zoom(node) }, node.name)]));
  }

  private amount(value: number): string {
    return this.model.is_static ? plural(value, "finding") : bytes(value);
  }

  private box(box: Box, first: boolean): SVGGElement {
    const { node } = box;
    const letters = Math.floor((box.width - 8) / LETTER);
    const label = letters < 3 ? "" : node.name.length <= letters ? node.name : `${node.name.slice(0, letters - 1)}…`;
    const group = s("g", {
      class: `f f${node === this.root ? "-root" : colour_of(node.name)}`, role: "treeitem", tabindex: first ? 0 : -1,
      "aria-level": box.depth + 1,
      "aria-label": `${node.name}: ${this.amount(node.value)}, ${percent(node.value / this.root.value)}`,
      onclick: () => this.zoom(node),
      onmouseenter: () => this.describe(node),
      onfocus: () => this.describe(node),
    },
    s("rect", { x: box.x + 0.5, y: box.depth * ROW + 0.5, width: Math.max(0.5, box.width - 1), height: ROW - 1, rx: 2 }),
    label && s("text", { x: box.x + 5, y: box.depth * ROW + 15 }, label));
    this.groups.set(node, group);
    return group;
  }

  private describe(node: Node): void {
    fill(this.words, h("b", {}, node.name), ` ${this.amount(node.value)} in ${plural(node.leaks, "leak")}, `,
      `${percent(node.value / this.root.value)} of all`);
  }

  private zoom(node: Node): void {
    this.zoomed = node === this.zoomed && node.parent ? node.parent : node;
    this.draw();
    this.groups.get(this.zoomed)?.focus();
  }

  private key(event: KeyboardEvent): void {
    const node = [...this.groups].find(([, group]) => group === event.target)?.[0];
    if (!node || event.ctrlKey || event.altKey || event.metaKey) return;
    const seen = (list: Iterable<Node>) => [...list].filter((other) => this.groups.has(other));
    let next: Node | undefined;
    if (event.key === "ArrowUp") next = node === this.zoomed ? undefined : node.parent;
    else if (event.key === "ArrowDown") {
      next = seen(node.children.values()).sort((a, b) => b.value - a.value)[0];
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const siblings = seen(node.parent?.children.values() ?? []).sort((a, b) => b.value - a.value);
      next = siblings[siblings.indexOf(node) + (event.key === "ArrowRight" ? 1 : -1)];
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.zoom(node);
      return;
    } else if (event.key === "Escape" && this.zoomed !== this.root) {
      event.stopPropagation();
      this.zoomed = this.root;
      this.draw();
      this.groups.get(this.root)?.focus();
      return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
    const target = next && this.groups.get(next);
    if (!target) return;
    this.groups.get(node)?.setAttribute("tabindex", "-1");
    target.setAttribute("tabindex", "0");
    target.focus();
  }
}
