// Which rows the filters leave, in which order, and in which groups.

import type { Model, Row } from "./model";
import type { Group, SortKey, State } from "./state";
import type { Kind } from "./report";

export interface GroupItem { group: true; key: string; label: string; detail: string; rows: Row[]; bytes: number; blocks: number }
export type Item = Row | GroupItem;
export const is_group = (item: Item): item is GroupItem => "group" in item;

const RANK: { [kind in Kind]: number } = {
  lost: 0, stale: 1, forgotten: 2, "double-free": 3, "mismatched-free": 4,
};

export function is_shown_hidden(row: Row, state: State): boolean {
  if (row.leak.suppressed && !state.suppressed) return false;
  return !(row.leak.known && !state.known);
}

export function selected(model: Model, state: State): Row[] {
  const words = state.q.toLowerCase().split(/\s+/).filter((word) => word);
  return model.rows.filter((row) =>
    is_shown_hidden(row, state) &&
    (state.kinds.length === 0 || state.kinds.includes(row.kind)) &&
    (state.file === "" || row.file === state.file) &&
    (state.module === "" || row.module === state.module) &&
    words.every((word) => row.text.includes(word)));
}

function compare(key: SortKey): (a: Row, b: Row) => number {
  switch (key) {
    case "bytes": return (a, b) => a.bytes - b.bytes;
    case "blocks": return (a, b) => a.blocks - b.blocks;
    case "drag": return (a, b) => a.drag - b.drag;
    case "confidence": return (a, b) => a.confidence - b.confidence;
    case "kind": return (a, b) => RANK[a.kind] - RANK[b.kind];
    case "where": return (a, b) =>
      a.file < b.file ? -1 : a.file > b.file ? 1 : (a.place?.line ?? 0) - (b.place?.line ?? 0);
    case "fn": return (a, b) => (a.fn < b.fn ? -1 : a.fn > b.fn ? 1 : 0);
    case "holder": return (a, b) => (a.holder < b.holder ? -1 : a.holder > b.holder ? 1 : 0);
  }
}

export function sorted(rows: Row[], state: State): Row[] {
  if (!state.sort) return rows;
  const order = compare(state.sort);
  const sign = state.descending ? -1 : 1;
  return [...rows].sort((a, b) => sign * order(a, b) || a.index - b.index);
}

function group_of(model: Model, row: Row, group: Group): { key: string; label: string; detail: string } {
  if (group === "file") return { key: row.file, label: row.file || "no source file", detail: "" };
  if (group === "module") return { key: row.module, label: row.module || "no module", detail: "" };
  const frame = model.lead(row, group === "loss" ? "loss" : "allocation");
  if (!frame) return { key: "", label: "place not known", detail: "" };
  const where = model.where(frame);
  const label = model.function_of(frame);
  return { key: `${label}\n${where}`, label, detail: where };
}

// Groups by their bytes (static findings: by their number), the largest first.
export function grouped(model: Model, rows: Row[], state: State): GroupItem[] {
  const groups = new Map<string, GroupItem>();
  for (const row of rows) {
    const { key, label, detail } = group_of(model, row, state.group);
    let item = groups.get(key);
    if (!item) {
      item = { group: true, key, label, detail, rows: [], bytes: 0, blocks: 0 };
      groups.set(key, item);
    }
    item.rows.push(row);
    item.bytes += row.bytes;
    item.blocks += row.blocks;
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes || b.rows.length - a.rows.length);
}

// The values that a filter offers, most frequent first.
export function choices(model: Model, pick: (row: Row) => string, most = 500): [string, number][] {
  const numbers = new Map<string, number>();
  for (const row of model.rows) {
    const value = pick(row);
    if (value) numbers.set(value, (numbers.get(value) ?? 0) + 1);
  }
  return [...numbers].sort((a, b) => b[1] - a[1]).slice(0, most);
}
