// What a function does to memory, as a graph: circles are blocks, arrows what
// points where. A block that the function allocates carries `!`, one that it
// frees `0`; dotted arrows were there before the call.
//
// Layers from left to right by distance from what nothing points to; a cycle is
// entered at its first node.

import { h, s, type Child } from "./dom";
import type { Summary } from "./report";
import { save_button } from "./svg_save";

const GAP_X = 150;
const GAP_Y = 64;
const RADIUS = 17;
const MOST_NODES = 60; // more is no picture any more

type Node = NonNullable<Summary["nodes"]>[number];
interface Placed { node: Node; x: number; y: number }

function layers(nodes: Node[], edges: NonNullable<Summary["edges"]>): Map<string, number> {
  const depth = new Map<string, number>();
  const targets = new Set(edges.map((edge) => edge.to));
  const queue = nodes.filter((node) => !targets.has(node.id)).map((node) => node.id);
  for (const id of queue) depth.set(id, 0);
  const walk = () => {
    for (let i = 0; i < queue.length; ++i) {
      for (const edge of edges) {
        if (edge.from !== queue[i] || depth.has(edge.to)) continue;
        depth.set(edge.to, depth.get(edge.from)! + 1);
        queue.push(edge.to);
      }
    }
  };
  walk();
  for (const node of nodes) {
    if (depth.has(node.id)) continue;
    depth.set(node.id, 0);
    queue.splice(0, queue.length, node.id);
    walk();
  }
  return depth;
}

function place(nodes: Node[], depth: Map<string, number>, top: number): Map<string, Placed> {
  const rows = new Map<number, number>();
  const placed = new Map<string, Placed>();
  for (const node of nodes) {
    const layer = depth.get(node.id) ?? 0;
    const row = rows.get(layer) ?? 0;
    rows.set(layer, row + 1);
    placed.set(node.id, { node, x: 70 + layer * GAP_X, y: top + row * GAP_Y });
  }
  return placed;
}

let drawn = 0; // ids of one page differ

function arrow(from: Placed, to: Placed, label: string, before: boolean, head: string): Child {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  const loop = from === to;
  const back = dx < 0 || (dx === 0 && !loop);
  const [ux, uy] = [dx / length, dy / length];
  const start = { x: from.x + ux * RADIUS, y: from.y + uy * RADIUS };
  const end = { x: to.x - ux * (RADIUS + 7), y: to.y - uy * (RADIUS + 7) };
  const bend = back ? 36 : 0;
  const mid = { x: (start.x + end.x) / 2 - uy * bend, y: (start.y + end.y) / 2 + ux * bend };
  const d = loop
    ? `M ${from.x - 8} ${from.y - RADIUS} C ${from.x - 30} ${from.y - 52}, ${from.x + 30} ${from.y - 52}, ${from.x + 8} ${from.y - RADIUS - 6}`
    : `M ${start.x} ${start.y} Q ${mid.x} ${mid.y} ${end.x} ${end.y}`;
  const at = loop ? { x: from.x, y: from.y - 44 } : mid;
  return [
    s("path", { d, class: before ? "edge before" : "edge", "marker-end": `url(#${head})` }),
    label && s("text", { x: at.x, y: at.y - 5, class: "edge-label", "text-anchor": "middle" }, label),
  ];
}

export function summary_graph(summary: Summary): HTMLElement {
  const nodes = (summary.nodes ?? []).slice(0, MOST_NODES);
  const edges = summary.edges ?? [];
  const depth = layers(nodes, edges);
  const placed = place(nodes, depth, edges.some((edge) => edge.from === edge.to) ? 68 : 34);
  const width = Math.max(220, ...[...placed.values()].map((at) => at.x + 90));
  const height = Math.max(80, ...[...placed.values()].map((at) => at.y + 46));
  const head = `arrow-${++drawn}`;
  const words = nodes.map((node) => `${node.label ?? node.id}${node.state ? `: ${node.state}` : ""}`).join(", ");
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, class: "summary-graph", role: "img",
    "aria-label": `What ${summary.function} does to memory: ${words}`,
  },
  s("defs", {}, s("marker", { id: head, viewBox: "0 0 8 8", refX: 1, refY: 4, markerWidth: 7, markerHeight: 7,
    orient: "auto" }, s("path", { d: "M 0 0 L 8 4 L 0 8 z", class: "arrow-head" }))),
  edges.map((edge) => {
    const from = placed.get(edge.from);
    const to = placed.get(edge.to);
    return from && to ? arrow(from, to, edge.label ?? "", edge.before === true, head) : null;
  }),
  [...placed.values()].map(({ node, x, y }) => s("g", { class: `node s-${node.state ?? "plain"}` },
    s("circle", { cx: x, cy: y, r: RADIUS }),
    s("text", { x, y: y + 5, "text-anchor": "middle", class: "node-state" },
      node.state === "allocated" ? "!" : node.state === "freed" ? "0" : ""),
    s("text", { x, y: y + RADIUS + 15, "text-anchor": "middle", class: "node-label" }, node.label ?? node.id))));
  return h("figure", { class: "summary" },
    h("figcaption", {}, h("code", {}, summary.function), save_button(`summary-${summary.function}`, () => svg)),
    nodes.length > 0 && h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": `Graph of ${summary.function}` }, svg),
    summary.text && h("pre", { tabindex: 0 }, summary.text));
}

export const summary_legend = (): HTMLElement => h("p", { class: "legend" },
  h("span", {}, h("b", {}, "!"), " allocated by the call"), h("span", {}, h("b", {}, "0"), " freed by it"),
  h("span", {}, "dotted: was there before the call"));
