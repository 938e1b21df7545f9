// Which view is shown and what is asked of it, kept in the fragment of the
// address: a link or a bookmark is the whole state. `#leak=FINGERPRINT` is the
// form that other tools link to.

import type { Kind } from "./report";

export type View = "leaks" | "flame" | "time" | "about";
export type SortKey = "bytes" | "blocks" | "drag" | "kind" | "fn" | "where" | "holder" | "confidence";
export type Group = "" | "allocation" | "loss" | "file" | "module";

export interface State {
  view: View;
  leak: string;
  q: string;
  kinds: Kind[]; // empty: all
  file: string;
  module: string;
  group: Group;
  sort: SortKey | ""; // empty: as the report has it
  descending: boolean;
  suppressed: boolean;
  known: boolean;
  by: "allocation" | "loss";
}

const VIEWS: View[] = ["leaks", "flame", "time", "about"];
const SORTS: SortKey[] = ["bytes", "blocks", "drag", "kind", "fn", "where", "holder", "confidence"];
const GROUPS: Group[] = ["", "allocation", "loss", "file", "module"];
const KINDS: Kind[] = ["lost", "stale", "forgotten", "double-free", "mismatched-free"];

function one_of<T>(list: T[], value: unknown, otherwise: T): T {
  return list.includes(value as T) ? (value as T) : otherwise;
}

export function parse_hash(hash: string): State {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const sort = params.get("sort") ?? "";
  return {
    view: one_of(VIEWS, params.get("view"), "leaks"),
    leak: params.get("leak") ?? "",
    q: params.get("q") ?? "",
    kinds: (params.get("kind") ?? "").split(",").filter((word): word is Kind => KINDS.includes(word as Kind)),
    file: params.get("file") ?? "",
    module: params.get("module") ?? "",
    group: one_of(GROUPS, params.get("group"), ""),
    sort: one_of<SortKey | "">(SORTS, sort.replace(/^-/, ""), ""),
    descending: sort.startsWith("-"),
    suppressed: params.get("suppressed") === "1",
    known: params.get("known") === "1",
    by: one_of<"allocation" | "loss">(["allocation", "loss"], params.get("by"), "allocation"),
  };
}

export function to_hash(state: State): string {
  const params = new URLSearchParams();
  if (state.leak) params.set("leak", state.leak);
  if (state.view !== "leaks") params.set("view", state.view);
  if (state.q) params.set("q", state.q);
  if (state.kinds.length) params.set("kind", state.kinds.join(","));
  if (state.file) params.set("file", state.file);
  if (state.module) params.set("module", state.module);
  if (state.group) params.set("group", state.group);
  if (state.sort) params.set("sort", (state.descending ? "-" : "") + state.sort);
  if (state.suppressed) params.set("suppressed", "1");
  if (state.known) params.set("known", "1");
  if (state.by !== "allocation") params.set("by", state.by);
  return `#${params.toString()}`;
}

// The address of another view, with the same filters.
export const link_to = (state: State, change: Partial<State>): string =>
  to_hash({ ...state, leak: "", ...change });
