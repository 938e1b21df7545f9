// The stacks of a leak side by side. The callers that all of them share are one
// folded row below, since what differs is what tells.

import { h, type Child } from "./dom";
import { plural } from "./format";
import type { Model, Row, Which } from "./model";
import type { Frame } from "./report";
import type { MarkKind, Sources } from "./source";

export interface StackColumn { which: Which; title: string; kind: MarkKind; frames: Frame[]; lead: Frame | undefined }

export function stack_columns(model: Model, row: Row): StackColumn[] {
  const columns: StackColumn[] = [];
  const add = (which: Which, title: string, kind: MarkKind) => {
    const frames = model.program_frames(row, which);
    if (frames.length > 0) columns.push({ which, title, kind, frames, lead: model.lead(row, which) });
  };
  add("allocation", "Allocated", "alloc");
  add("lastUse", "Last used", "use");
  add("loss", "Lost", "loss");
  return columns;
}

const same = (a: Frame, b: Frame): boolean =>
  a.function === b.function && a.file === b.file && a.line === b.line && a.module === b.module &&
  (a.line !== undefined || a.offset === b.offset);

// How many outermost frames all stacks have in common. The innermost frame of each
// stays: it is the place itself.
export function shared_callers(stacks: Frame[][]): number {
  if (stacks.length < 2) return 0;
  const most = Math.min(...stacks.map((stack) => stack.length)) - 1;
  let shared = 0;
  while (shared < most) {
    const first = stacks[0]!;
    const frame = first[first.length - 1 - shared]!;
    if (!stacks.every((stack) => same(stack[stack.length - 1 - shared]!, frame))) break;
    ++shared;
  }
  return shared;
}

export function frame_item(model: Model, sources: Sources, frame: Frame, is_lead: boolean,
                           on_pick: ((frame: Frame) => void) | null): HTMLElement {
  const words: Child = [
    h("span", { class: "fn", title: frame.function }, model.function_of(frame)),
    frame.inlined && h("span", { class: "inlined", title: "inlined into its caller" }, "inlined"),
    h("span", { class: "where" }, model.where(frame)),
  ];
  const can_show = on_pick !== null && sources.has(frame.file, frame.line);
  return h("li", { class: is_lead ? "lead" : "" }, can_show
    ? h("button", { type: "button", class: "frame", onclick: () => on_pick!(frame),
      "aria-label": `${model.function_of(frame)}, ${model.where(frame)}: show the source` }, words)
    : h("span", { class: "frame" }, words));
}

export function stacks_view(model: Model, sources: Sources, columns: StackColumn[],
                            on_pick: (frame: Frame, column: StackColumn) => void): HTMLElement {
  const shared = shared_callers(columns.map((column) => column.frames));
  const common = columns[0]?.frames.slice(columns[0].frames.length - shared) ?? [];
  return h("div", { class: "stacks", vars: { "--n": String(columns.length) } },
    columns.map((column) => h("section", { class: `stack m-${column.kind}`, "aria-label": `${column.title}: stack` },
      h("h3", {}, column.title),
      h("ol", {}, column.frames.slice(0, column.frames.length - shared).map((frame) =>
        frame_item(model, sources, frame, frame === column.lead, (picked) => on_pick(picked, column)))))),
    shared > 0 && h("details", { class: "shared" },
      h("summary", {}, `${plural(shared, "shared caller")}: `,
        h("span", { class: "chain" }, common.map((frame) => model.function_of(frame)).join(" ← "))),
      h("ol", {}, common.map((frame) => frame_item(model, sources, frame, false,
        (picked) => on_pick(picked, columns[0]!))))));
}
