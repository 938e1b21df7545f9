// What the views ask of a report: one row per leak with the words and figures
// that are shown, sorted and searched.

import { base_name, short_function } from "./format";
import type { Frame, Kind, Leak, PageData, Report, Stack, StackView } from "./report";

export interface Row {
  index: number;
  leak: Leak;
  kind: Kind;
  bytes: number; // with what hangs on it
  blocks: number;
  drag: number;
  confidence: number;
  place: Frame | undefined; // where it was lost, else allocated
  fn: string;
  file: string; // as shown
  where: string; // "mailroom.c:41"
  holder: string;
  module: string;
  text: string; // everything that a search looks at, in small letters
}

export type Which = "allocation" | "lastUse" | "loss";
const VIEW: { [which in Which]: 0 | 1 | 2 } = { allocation: 0, lastUse: 1, loss: 2 };

export class Model {
  readonly rows: Row[];
  readonly by_id = new Map<string, Row>();
  readonly is_static: boolean;
  readonly has_drag: boolean;
  readonly has_holder: boolean;

  constructor(readonly report: Report, readonly page: PageData) {
    this.is_static = report.tool.engine === "check";
    this.rows = report.leaks.map((leak, index) => this.row(leak, index));
    for (const row of this.rows) if (!this.by_id.has(row.leak.id)) this.by_id.set(row.leak.id, row);
    this.has_drag = this.rows.some((row) => row.drag > 0);
    this.has_holder = this.rows.some((row) => row.holder !== "");
  }

  stack(leak: Leak, which: Which): Stack {
    const part = which === "allocation" ? leak.allocation : which === "lastUse" ? leak.lastUse : leak.loss;
    return part?.stack ?? [];
  }

  view(row: Row, which: Which): StackView {
    return this.page.views[row.index]?.[VIEW[which]] ?? null;
  }

  // The frame that tells most: the innermost of the program's own source.
  lead(row: Row, which: Which): Frame | undefined {
    const stack = this.stack(row.leak, which);
    const at = this.view(row, which)?.[0] ?? 0;
    return stack[at] ?? stack[0];
  }

  // From the allocator's caller outwards to main.
  program_frames(row: Row, which: Which): Frame[] {
    const view = this.view(row, which);
    const stack = this.stack(row.leak, which);
    return view ? stack.slice(view[1], view[2]) : stack;
  }

  function_of(frame: Frame): string {
    const name = frame.function ?? frame.linkage;
    return name ? short_function(name) : this.address_of(frame) || "?";
  }

  module_of(frame: Frame): string {
    const module = frame.module === undefined ? undefined : this.report.modules?.[frame.module];
    return module?.path ?? "";
  }

  address_of(frame: Frame): string {
    const module = base_name(this.module_of(frame));
    const offset = frame.offset === undefined ? "" : `0x${frame.offset.toString(16)}`;
    return module && offset ? `${module}+${offset}` : module || offset;
  }

  // A path without the directory in which the program ran.
  shown_file(file: string): string {
    const cwd = this.report.subject?.cwd ?? "";
    return cwd.length > 1 && file.startsWith(`${cwd}/`) ? file.slice(cwd.length + 1) : file;
  }

  where(frame: Frame | undefined, column = false): string {
    if (!frame) return "?";
    if (!frame.file) return this.address_of(frame) || "?";
    let text = this.shown_file(frame.file);
    if (frame.line) text += `:${frame.line}`;
    if (frame.line && frame.column && column) text += `:${frame.column}`;
    return text;
  }

  absolute(file: string): string {
    const cwd = this.report.subject?.cwd ?? "";
    return file.startsWith("/") || !cwd ? file : `${cwd}/${file}`;
  }

  private row(leak: Leak, index: number): Row {
    const row = {
      index, leak, kind: leak.kind,
      bytes: leak.bytes + (leak.indirect?.bytes ?? 0),
      blocks: leak.blocks + (leak.indirect?.blocks ?? 0),
      drag: leak.age?.drag ?? 0,
      confidence: leak.confidence ?? 1,
      holder: leak.loss?.holder?.name ?? leak.holders?.[0]?.name ?? "",
    } as Row;
    const path_end = leak.path?.[leak.path.length - 1]?.location;
    row.place = this.lead(row, "loss") ?? path_end ?? this.lead(row, "allocation");
    row.fn = row.place ? this.function_of(row.place) : "?";
    row.file = row.place?.file ? this.shown_file(row.place.file) : "";
    row.where = this.where(row.place);
    row.module = row.place ? this.module_of(row.place) : "";
    // Built when somebody searches: names of all frames of 20,000 leaks take a while.
    Object.defineProperty(row, "text", {
      get: () => {
        const text = this.search_text(row);
        Object.defineProperty(row, "text", { value: text });
        return text;
      },
      configurable: true,
    });
    return row;
  }

  private search_text(row: Row): string {
    const { leak } = row;
    const words: (string | undefined)[] = [
      leak.id, leak.kind, leak.when, leak.resource, leak.allocation.api, leak.loss?.cause, row.holder, row.module,
      leak.suppressed?.by, leak.suppressed?.reason];
    for (const which of ["allocation", "lastUse", "loss"] as const) {
      for (const frame of this.program_frames(row, which)) words.push(frame.function, frame.file);
    }
    return words.filter((word) => word !== undefined).join("\n").toLowerCase();
  }
}
