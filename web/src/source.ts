// Source around places: lines with their numbers, syntax colours, the places
// marked, and the fix window as a band in the margin. What was not embedded is
// not shown; gaps say how many lines lie between.

import { fill, h, type Child } from "./dom";
import { plural } from "./format";
import type { Model } from "./model";
import { editor_link } from "./editor";
import { begins_in_comment, coloured, type ScanState } from "./syntax";

export type MarkKind = "alloc" | "use" | "loss" | "free" | "frame" | "step" | "fix";
export interface Mark { line: number; column?: number; kind: MarkKind; label: string }

const LETTER: { [kind in MarkKind]: string } = {
  alloc: "A", use: "U", loss: "L", free: "F", frame: "·", step: "▸", fix: "+",
};

export class Sources {
  private readonly cache = new Map<string, Map<number, string>>();

  constructor(private readonly files: { [file: string]: [number, string][] }) {}

  lines(file: string): Map<number, string> {
    let lines = this.cache.get(file);
    if (!lines) {
      lines = new Map();
      const runs = Object.hasOwn(this.files, file) ? this.files[file]! : [];
      for (const [first, text] of runs) text.split("\n").forEach((line, i) => lines!.set(first + i, line));
      this.cache.set(file, lines);
    }
    return lines;
  }

  has(file: string | undefined, line: number | undefined): boolean {
    return file !== undefined && line !== undefined && this.lines(file).has(line);
  }
}

interface ExcerptOptions {
  file: string;
  marks: Mark[];
  window?: [number, number] | undefined; // lines in which a free mends the leak
  context: number;
}

// The lines to show: around the marks, and the window.
function wanted(have: Map<number, string>, options: ExcerptOptions): number[] {
  const lines = new Set<number>();
  for (const mark of options.marks) {
    for (let line = mark.line - options.context; line <= mark.line + options.context; ++line) lines.add(line);
  }
  if (options.window) for (let line = options.window[0]; line <= options.window[1]; ++line) lines.add(line);
  const list = [...lines].filter((line) => have.has(line)).sort((a, b) => a - b);
  // A gap of two lines is longer to read than the lines.
  const out: number[] = [];
  for (const line of list) {
    const before = out[out.length - 1];
    if (before !== undefined && line - before <= 3) {
      for (let between = before + 1; between < line; ++between) if (have.has(between)) out.push(between);
    }
    out.push(line);
  }
  return out;
}

// "        ^ lost here": under the column, tabs kept so that it lines up.
function pointer(line: string, mark: Mark): Child {
  const column = Math.max(1, Math.min(mark.column ?? 1, line.length + 1));
  const indent = mark.column ? line.slice(0, column - 1).replace(/[^\t]/g, " ") : /^\s*/.exec(line)![0];
  return [indent, h("span", { class: `pointer m-${mark.kind}` }, `${mark.column ? "^ " : ""}${mark.label}`)];
}

function line_row(number: number, text: string, marks: Mark[], in_window: boolean, state: ScanState): Child {
  const kinds = marks.map((mark) => mark.kind);
  const main = kinds.includes("loss") ? "loss" : kinds[0];
  const row = h("div", {
    class: `line${main ? ` marked m-${main}` : ""}${in_window ? " in-window" : ""}`, "data-line": number,
  },
  h("span", { class: "gutter" },
    h("span", { class: "flags", "aria-hidden": "true" }, [...new Set(kinds)].map((kind) =>
      h("span", { class: `flag m-${kind}` }, LETTER[kind]))),
    h("span", { class: "no" }, number)),
  h("code", {}, text === "" ? "\n" : coloured(text, state)));
  const below = marks.filter((mark) => mark.label !== "").map((mark) =>
    h("div", { class: `line under${in_window ? " in-window" : ""}` }, h("span", { class: "gutter" }),
      h("code", {}, pointer(text, mark))));
  return [row, below];
}

function body_of(have: Map<number, string>, options: ExcerptOptions, more: () => void): Child {
  const lines = wanted(have, options);
  const rows: Child[] = [];
  let before: number | undefined;
  let state: ScanState = { comment: false };
  lines.forEach((number, i) => {
    if (before === undefined || number !== before + 1) {
      if (before !== undefined) {
        rows.push(h("div", { class: "gap" }, h("span", { class: "gutter" }, "⋮"),
          plural(number - before - 1, "line")));
      }
      let end = i;
      while (end + 1 < lines.length && lines[end + 1] === lines[end]! + 1) ++end;
      state = { comment: begins_in_comment(lines.slice(i, end + 1).map((line) => have.get(line)!)) };
    }
    const marks = options.marks.filter((mark) => mark.line === number);
    const { window } = options;
    rows.push(line_row(number, have.get(number)!, marks,
      window !== undefined && number >= window[0] && number <= window[1], state));
    before = number;
  });
  const larger = wanted(have, { ...options, context: options.context + 20 }).length > lines.length;
  return [h("div", { class: "code", tabindex: 0, role: "region", "aria-label": "source lines" },
    h("div", { class: "lines" }, rows)),
    larger && h("button", { type: "button", class: "more", onclick: more }, "more lines")];
}

export function excerpt(model: Model, sources: Sources, options: ExcerptOptions): HTMLElement {
  const have = sources.lines(options.file);
  const first = options.marks[0];
  const body = h("div", {});
  const draw = () => fill(body, body_of(have, options, () => {
    options.context += 20;
    draw();
  }));
  draw();
  const link = editor_link(model.absolute(options.file), first?.line, first?.column);
  return h("figure", { class: "excerpt" },
    h("figcaption", {}, h("span", { class: "path", title: options.file }, model.shown_file(options.file)),
      link && h("a", { class: "edit", href: link, "aria-label": `Open ${options.file} in the editor` }, "open")),
    body);
}

// Instead of an excerpt, where the source is not in the page.
export function no_source(model: Model, file: string | undefined): HTMLElement {
  return h("p", { class: "no-source" },
    file ? `The source of ${model.shown_file(file)} is not in this page.` : "No source line is known here.");
}
