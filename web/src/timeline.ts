// A leak's life from left to right (from top to bottom where there is no room):
// allocated, in use, last used, the window in which a free belongs, lost or still
// held. Distances mean nothing where the engine keeps no times; where it does
// (age), the figures stand on the line.

import { h, type Child } from "./dom";
import { cause_words, figure, seconds } from "./format";
import type { Model, Row } from "./model";
import type { Frame } from "./report";

interface Stop { kind: string; title: string; frame: Frame | undefined; detail: string }

const USES: { [what: string]: string } = {
  access: "its memory was accessed", copy: "a reference was copied", call: "passed to a call",
  arithmetic: "computed with",
};

function time_of(model: Model, row: Row, value: number): string {
  const unit = row.leak.age?.unit ?? (model.report.tool.engine === "watch" ? "" : "heap accesses");
  return unit.includes("second") ? `${seconds(value)} of CPU time` : `${figure(value)} ${unit}`.trim();
}

function stops_of(model: Model, row: Row): Stop[] {
  const { leak } = row;
  const stops: Stop[] = [{
    kind: "alloc", title: "Allocated", frame: model.lead(row, "allocation"),
    detail: leak.allocation.api ? `by ${leak.allocation.api}` : "",
  }];
  if (leak.lastUse) {
    stops.push({ kind: "use", title: "Last used", frame: model.lead(row, "lastUse"),
      detail: leak.lastUse.what ? USES[leak.lastUse.what] ?? leak.lastUse.what : "" });
  }
  if (leak.kind === "lost") {
    stops.push({ kind: "loss", title: "Lost", frame: model.lead(row, "loss"), detail: cause_words(leak.loss?.cause) });
  } else {
    const holder = leak.holders?.[0];
    stops.push({ kind: leak.kind, title: leak.kind === "stale" ? "Still held, unused" : "Still held at the end",
      frame: undefined, detail: holder?.name ? `by ${holder.name}` : "" });
  }
  return stops;
}

// What lies between two stops.
function stretch(model: Model, row: Row, from: Stop, to: Stop): Child {
  const { age } = row.leak;
  if (to.kind === "loss" && from.kind === "use") return h("span", { class: "stretch window" }, h("span", {}, "fix window"));
  if (from.kind === "alloc" && age?.active !== undefined) {
    return h("span", { class: "stretch held" }, h("span", {}, `in use for ${time_of(model, row, age.active)}`,
      age.idle !== undefined && `, then idle for ${time_of(model, row, age.idle)}`));
  }
  const words = from.kind === "alloc" && to.kind === "use" ? "in use" : "";
  return h("span", { class: to.kind === "loss" || to.kind === "use" ? "stretch" : "stretch held" }, words && h("span", {}, words));
}

export function timeline(model: Model, row: Row): HTMLElement {
  const stops = stops_of(model, row);
  const items: Child[] = [];
  stops.forEach((stop, i) => {
    const next = stops[i + 1];
    items.push(h("li", { class: `stop t-${stop.kind}` },
      h("span", { class: "dot", "aria-hidden": "true" }), next && stretch(model, row, stop, next),
      h("span", { class: "stop-title" }, stop.title),
      stop.frame && h("span", { class: "stop-fn" }, model.function_of(stop.frame)),
      stop.frame && h("span", { class: "stop-where" }, model.where(stop.frame)),
      stop.detail && h("span", { class: "stop-detail" }, stop.detail)));
  });
  return h("ol", { class: "timeline", "aria-label": "The life of the block" }, items);
}
