// One leak: its life, its stacks, the source with every place marked, and all
// that helps to mend it.

import { fill, h, type Child } from "./dom";
import { editor_link } from "./editor";
import { histogram } from "./chart";
import { bytes, cause_words, count, figure, percent, plural, seconds, when_words } from "./format";
import { as_text, copy, deep_link, quantity, suppression } from "./handoff";
import type { Model, Row } from "./model";
import { PathWalker } from "./path";
import type { Frame, Holder, Leak } from "./report";
import { excerpt, no_source, type Mark, type Sources } from "./source";
import { frame_item, stack_columns, stacks_view, type StackColumn } from "./stacks";
import { link_to, type State } from "./state";
import { summary_graph, summary_legend } from "./summary_graph";
import { save_button } from "./svg_save";
import { timeline } from "./timeline";

export interface LeakContext {
  model: Model;
  sources: Sources;
  state: State;
  rows: Row[]; // those that the filters leave, for stepping
}

// --- head -------------------------------------------------------------------

function sentence(row: Row): string {
  const { leak } = row;
  if (leak.kind === "lost") return cause_words(leak.loss?.cause) || "nothing refers to it any more";
  return leak.kind === "stale" ? "held, but not used for long" : "still held at the end, never freed";
}

function title(model: Model, row: Row): string {
  if (!model.is_static || row.leak.bytes > 0) return `${quantity(model, row)}: ${sentence(row)}`;
  return `${row.holder ? `\u2018${row.holder}\u2019` : "A block"} is lost: ${sentence(row)}`;
}

function facts(model: Model, row: Row): Child {
  const { leak } = row;
  const holder = leak.loss?.holder;
  const items: [string, Child][] = [];
  if (holder?.name) {
    items.push(["Holder", [h("code", {}, holder.name), holder.type && h("span", { class: "faint" }, ` ${holder.type}`),
      holder.storage && h("span", { class: "faint" }, `, ${holder.storage}`)]]);
  }
  if (leak.indirect?.blocks) {
    items.push(["Only it held", `${bytes(leak.indirect.bytes)} in ${plural(leak.indirect.blocks, "block")}`]);
  }
  if (leak.sizes && leak.blocks > 1) {
    items.push(["Block size", leak.sizes.min === leak.sizes.max ? bytes(leak.sizes.min)
      : `${bytes(leak.sizes.min)} to ${bytes(leak.sizes.max)}`]);
  }
  if (leak.when) items.push(["When", when_words(leak.when)]);
  if (leak.confidence !== undefined && leak.confidence < 1) items.push(["Confidence", percent(leak.confidence)]);
  if (leak.resource && leak.resource !== "memory") items.push(["Resource", leak.resource]);
  if (row.module) items.push(["Module", h("span", { title: row.module }, model.shown_file(row.module))]);
  items.push(["Fingerprint", h("code", {}, leak.id)]);
  return h("dl", { class: "facts" }, items.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

function actions(context: LeakContext, row: Row): HTMLElement {
  const { model, sources } = context;
  const place = row.place;
  const link = place?.file ? editor_link(model.absolute(place.file), place.line, place.column) : undefined;
  const button = (id: string, label: string, text: () => string, what: string) => h("button", {
    type: "button", id, onclick: () => void copy(text(), what),
  }, label);
  return h("div", { class: "actions" },
    link && h("a", { class: "button primary", id: "open-editor", href: link }, "Open in editor"),
    button("copy-text", "Copy as text", () => as_text(model, sources, row), "Text"),
    button("copy-suppression", "Copy suppression", () => suppression(model, row), "Suppression"),
    button("copy-link", "Copy link", () => deep_link(row), "Link"));
}

function stepping(context: LeakContext, row: Row): HTMLElement {
  const { rows, state } = context;
  const at = rows.indexOf(row);
  const step = (to: Row | undefined, label: string, sign: string, id: string) => to
    ? h("a", { class: "button quiet", id, href: link_to(state, { leak: to.leak.id }), "aria-label": label }, sign)
    : h("span", { class: "button quiet off", "aria-hidden": "true" }, sign);
  return h("nav", { class: "stepping", "aria-label": "Leaks" },
    h("a", { class: "back", id: "back", href: link_to(state, {}) }, "← All leaks"),
    at >= 0 && h("span", { class: "step-nav" }, h("span", { class: "faint" }, `${count(at + 1)} of ${count(rows.length)}`),
      step(rows[at - 1], "Previous leak", "↑", "previous"), step(rows[at + 1], "Next leak", "↓", "next")));
}

// --- source -----------------------------------------------------------------

const LABEL: { [kind: string]: string } = { alloc: "allocated here", use: "last used here", loss: "lost here", frame: "called from here" };

// The window as lines of one file, where it lies in one.
function window_lines(leak: Leak, file: string): [number, number] | undefined {
  const points = leak.window ?? [];
  if (points.length === 0 || points.some((point) => point.file !== file || !point.line)) return undefined;
  const lines = points.map((point) => point.line!);
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  const forward = lines[0] === first && last - first <= 120;
  return forward ? [first, last] : undefined;
}

function mark_of(column: StackColumn, leak: Leak): Mark {
  const why = column.kind === "loss" ? leak.loss?.cause : column.kind === "use" ? leak.lastUse?.what : leak.allocation.api;
  const mark: Mark = { line: column.lead!.line!, kind: column.kind, label: `${LABEL[column.kind]}${why ? ` (${why})` : ""}` };
  if (column.lead!.column) mark.column = column.lead!.column;
  return mark;
}

class SourcePanel {
  readonly element = h("div", { class: "sources" });
  private picked: Frame | undefined;

  constructor(private readonly context: LeakContext, private readonly row: Row, private readonly columns: StackColumn[]) {
    this.draw();
  }

  show(frame: Frame): void {
    this.picked = frame;
    this.draw();
    const line = this.element.querySelector(`.line.m-frame[data-line="${frame.line}"]`) ??
      this.element.querySelector(`.excerpt.of-frame .line[data-line="${frame.line}"]`) ??
      this.element.querySelector(`.line[data-line="${frame.line}"]`);
    line?.scrollIntoView({ block: "center", behavior: "smooth" });
  }

  // Files in the order of the life: where it was lost first, since that is where to look.
  private draw(): void {
    const { model, sources } = this.context;
    const files = new Map<string, Mark[]>();
    const missing = new Set<string>();
    for (const column of [...this.columns].reverse()) {
      const frame = column.lead;
      if (frame?.file && frame.line && sources.has(frame.file, frame.line)) {
        const marks = files.get(frame.file) ?? [];
        marks.push(mark_of(column, this.row.leak));
        files.set(frame.file, marks);
      } else if (frame?.file) missing.add(frame.file);
    }
    const { picked } = this;
    if (picked?.file && picked.line) {
      const marks = files.get(picked.file) ?? [];
      if (!marks.some((mark) => mark.line === picked.line)) {
        const mark: Mark = { line: picked.line, kind: "frame", label: `in ${model.function_of(picked)}` };
        if (picked.column) mark.column = picked.column;
        marks.push(mark);
      }
      files.set(picked.file, marks);
    }
    fill(this.element, [...files].map(([file, marks]) => excerpt(model, sources, {
      file, marks: [...marks].sort((a, b) => a.line - b.line || (a.column ?? 0) - (b.column ?? 0)), window: window_lines(this.row.leak, file), context: 5,
    })), files.size === 0 && no_source(model, [...missing][0]));
  }
}

// --- sections ---------------------------------------------------------------

function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: `part p-${id}`, "aria-labelledby": `h-${id}` }, h("h2", { id: `h-${id}` }, title), children);
}

function window_section(model: Model, leak: Leak, pick: (frame: Frame) => void, sources: Sources): Child {
  const points = (leak.window ?? []).filter((frame, i, all) => i === 0 || model.where(frame) !== model.where(all[i - 1]));
  if (points.length === 0 && !leak.fix) return null;
  return section("window", "Fix window",
    points.length > 0 && h("p", {}, "A free at one of these places, from the last use to the loss, mends the leak:"),
    points.length > 0 && h("ol", { class: "points" }, points.map((frame) =>
      frame_item(model, sources, frame, false, pick))),
    leak.fix && h("p", { class: "fix" }, h("b", {}, "Suggestion: "), leak.fix.text,
      leak.fix.place && h("span", { class: "where" }, ` at ${model.where(leak.fix.place)}`)));
}

function to_main(stack: Frame[]): Frame[] {
  const main = stack.findIndex((frame) => frame.function === "main");
  return main < 0 ? stack : stack.slice(0, main + 1);
}

function frees_section(context: LeakContext, leak: Leak): Child {
  const { model, sources } = context;
  if (!leak.frees?.length) return null;
  return section("frees", "Where siblings are freed",
    h("p", {}, "Other blocks from the same allocation site are freed here:"),
    leak.frees.map((free) => {
      const frame = (free.stack ?? []).find((one) => sources.has(one.file, one.line)) ?? free.stack?.[0];
      const mark: Mark | undefined = frame?.line ? { line: frame.line, kind: "free", label: `frees ${plural(free.blocks, "sibling")}` } : undefined;
      if (mark && frame?.column) mark.column = frame.column;
      return h("details", { class: "sibling", open: leak.frees!.length === 1 },
        h("summary", {}, `${plural(free.blocks, "block")} in `, h("span", { class: "fn" }, frame ? model.function_of(frame) : "?"),
          h("span", { class: "where" }, ` ${model.where(frame)}`)),
        h("ol", { class: "points" }, to_main(free.stack ?? []).slice(0, 12).map((one) => frame_item(model, sources, one, one === frame, null))),
        mark && frame?.file && sources.has(frame.file, frame.line) &&
          excerpt(model, sources, { file: frame.file, marks: [mark], context: 3 }));
    }));
}

function chain_of(holder: Holder): Child {
  const links = holder.chain ?? [];
  return h("li", {}, links.length > 0 && h("span", { class: "chain" }, links.map((link, i) =>
    [i > 0 && h("span", { class: "faint" }, " → "), h("code", {}, link)]), h("span", { class: "faint" }, " → ")),
  holder.name && h("code", {}, holder.name), holder.type && h("span", { class: "faint" }, ` ${holder.type}`),
  holder.storage && h("span", { class: "faint" }, `, ${holder.storage}`));
}

function holders_section(leak: Leak): Child {
  if (!leak.holders?.length) return null;
  return section("holders", "Still held by", h("ul", { class: "points" }, leak.holders.map(chain_of)));
}

function age_section(leak: Leak): Child {
  const { age } = leak;
  if (!age) return null;
  const time = (value: number) => (age.unit?.includes("second") ? seconds(value) : `${figure(value)} ${age.unit ?? "heap accesses"}`);
  const items: [string, string | undefined][] = [
    ["Verdict", age.verdict],
    ["In use for", age.active === undefined ? undefined : time(age.active)],
    ["Idle for", age.idle === undefined ? undefined : time(age.idle)],
    ["Drag (bytes × idle)", age.drag === undefined ? undefined : figure(age.drag)],
    ["Growth", age.growth === undefined ? undefined : figure(age.growth)],
    ["First seen", age.first === undefined ? undefined : time(age.first)],
    ["Last seen", age.last === undefined ? undefined : time(age.last)],
    ["Samples", age.samples === undefined ? undefined : count(age.samples)],
    ["95% interval", age.bytesLow === undefined || age.bytesHigh === undefined ? undefined
      : `${bytes(age.bytesLow)} to ${bytes(age.bytesHigh)}`],
    ["Chance of a mistake", age.missedChance === undefined ? undefined : percent(age.missedChance)],
  ];
  const drawing = age.histogram?.length ? histogram(age.histogram) : null;
  return section("age", "How it aged",
    h("dl", { class: "facts" }, items.filter(([, value]) => value !== undefined).map(([name, value]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    drawing && h("figure", { class: "summary" }, h("figcaption", {}, "Blocks by idle time, doubling from bar to bar",
      save_button("idle-times", () => drawing)), drawing));
}

function hidden_note(leak: Leak): Child {
  if (leak.suppressed) {
    return h("p", { class: "hidden-note" }, `Suppressed by ${leak.suppressed.by}`,
      leak.suppressed.reason && `: ${leak.suppressed.reason}`);
  }
  return leak.known && h("p", { class: "hidden-note" }, "Known: the baseline has it.");
}

export class LeakView {
  readonly element: HTMLElement;
  readonly walker: PathWalker | undefined;

  constructor(context: LeakContext, row: Row) {
    const { model, sources } = context;
    const { leak } = row;
    const columns = stack_columns(model, row);
    const panel = new SourcePanel(context, row, columns);
    if (leak.path?.length) this.walker = new PathWalker(model, sources, leak.path);
    this.element = h("article", { class: `leak k-${leak.kind}`, "aria-labelledby": "leak-title" },
      stepping(context, row),
      h("header", { class: "leak-head" },
        h("p", { class: "eyebrow" }, h("span", { class: `badge k-${leak.kind}` }, leak.kind), ` in `, h("span", { class: "fn" }, row.fn),
          h("span", { class: "where" }, ` ${row.where}`)),
        h("h1", { id: "leak-title", tabindex: -1 }, title(model, row)),
        hidden_note(leak), actions(context, row), facts(model, row)),
      section("life", "Life", timeline(model, row)),
      this.walker && section("path", "Path", this.walker.element),
      section("source", "Source", panel.element),
      window_section(model, leak, (frame) => panel.show(frame), sources),
      columns.length > 0 && section("stacks", "Stacks", stacks_view(model, sources, columns, (frame) => panel.show(frame))),
      frees_section(context, leak),
      holders_section(leak), age_section(leak),
      leak.summaries?.length ? section("summaries", "What the functions do to memory", summary_legend(),
        h("div", { class: "summaries" }, leak.summaries.map(summary_graph))) : null);
  }
}
