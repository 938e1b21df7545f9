// What leaves the page: a leak as text for an issue tracker, a suppression, a
// link.

import { h, say } from "./dom";
import { bytes, cause_words, percent, plural, when_words } from "./format";
import type { Model, Row, Which } from "./model";
import type { Sources } from "./source";
import { stack_columns } from "./stacks";

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from disk may not use the clipboard's own interface.
    const area = h("textarea", { class: "off-screen", "aria-hidden": "true" });
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) {
      say("The browser does not let the page copy");
      return;
    }
  }
  say(`${what} copied`);
}

export function quantity(model: Model, row: Row): string {
  const { leak } = row;
  if (model.is_static && leak.bytes === 0) return leak.resource && leak.resource !== "memory" ? leak.resource : "memory";
  if (leak.resource && leak.resource !== "memory") return plural(leak.blocks, leak.resource);
  return `${bytes(leak.bytes)} in ${plural(leak.blocks, "block")}`;
}

function quoted_source(model: Model, sources: Sources, row: Row): string[] {
  const out: string[] = [];
  const marks = stack_columns(model, row).filter((column) => sources.has(column.lead?.file, column.lead?.line));
  for (const { title, lead } of marks) {
    const lines = sources.lines(lead!.file!);
    out.push("", `${title} at ${model.where(lead)}:`);
    for (let line = lead!.line! - 2; line <= lead!.line! + 2; ++line) {
      const text = lines.get(line);
      if (text !== undefined) out.push(`${line === lead!.line ? ">" : " "} ${String(line).padStart(5)} | ${text}`);
    }
  }
  return out;
}

export function as_text(model: Model, sources: Sources, row: Row): string {
  const { leak } = row;
  const words = [leak.kind, cause_words(leak.loss?.cause), leak.when && when_words(leak.when),
    leak.confidence !== undefined && leak.confidence < 1 && `confidence ${percent(leak.confidence)}`].filter((word) => word);
  const out = [`${model.where(row.place, true)}: leak[${leak.kind}]: ${quantity(model, row)} (${words.join(", ")})`];
  if (leak.indirect?.blocks) out.push(`and ${plural(leak.indirect.blocks, "block")}, ${bytes(leak.indirect.bytes)} that only it held`);
  if (row.holder) out.push(`holder: ${row.holder}`);
  const stack = (which: Which, title: string) => {
    const frames = model.program_frames(row, which);
    if (frames.length === 0) return;
    out.push("", `${title}:`);
    for (const frame of frames) out.push(`    ${model.function_of(frame)} (${model.where(frame)})`);
  };
  stack("loss", "lost in");
  stack("lastUse", "last used in");
  stack("allocation", `allocated${leak.allocation.api ? ` by ${leak.allocation.api}` : ""} in`);
  if (leak.window?.length) out.push("", `fix window: ${leak.window.map((frame) => model.where(frame)).join(" .. ")}`);
  if (leak.fix) out.push("", `suggestion: ${leak.fix.text}`);
  if (leak.path?.length) {
    out.push("", "path:");
    leak.path.forEach((step, i) => out.push(`${String(i + 1).padStart(4)}. ${model.where(step.location)}: ` +
      `${step.text ?? step.event ?? ""}`));
  }
  out.push(...quoted_source(model, sources, row));
  const { tool, subject } = model.report;
  out.push("", `id ${leak.id}; plumb ${tool.version ?? ""} ${tool.engine}${subject?.command ? `; ${subject.command.join(" ")}` : ""}`);
  return `${out.join("\n")}\n`;
}

const toml = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&").replace(/[\u0000-\u001f\u007f]/g, " ")}"`;

export function suppression(model: Model, row: Row): string {
  const made = model.page.suppressions[row.index];
  if (made) return made;
  return `[[suppress]]\nname = ${toml(`${row.kind} in ${row.fn}`)}\nreason = ""\nid = ${toml(row.leak.id)}\n`;
}

// The leak alone, whatever is filtered now.
export function deep_link(row: Row): string {
  return `${window.location.href.replace(/#.*$/, "")}#leak=${encodeURIComponent(row.leak.id)}`;
}
