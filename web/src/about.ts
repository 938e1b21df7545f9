// What was analysed, and what limits the result.

import { h, type Child } from "./dom";
import { count, plural, seconds } from "./format";
import type { Model } from "./model";
import { save_file } from "./svg_save";

function row(name: string, value: Child): Child {
  return value === undefined || value === "" || value === null ? null : h("div", {}, h("dt", {}, name), h("dd", {}, value));
}

function ending(model: Model): string {
  const status = model.report.subject?.status;
  if (status?.signal !== undefined) return `signal ${status.signal}`;
  return status?.code === undefined ? "" : `exit status ${status.code}`;
}

function totals_table(model: Model): Child {
  const { totals } = model.report;
  const names = ["allocated", "freed", "lost", "stale", "forgotten", "excluded"] as const;
  if (!totals.allocated?.blocks) return null;
  return h("table", {}, h("caption", {}, "Every block is in exactly one of these"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), h("th", { scope: "col" }, "Bytes"), h("th", { scope: "col" }, "Blocks"))),
    h("tbody", {}, names.map((name) => {
      const value = totals[name] ?? { blocks: 0, bytes: 0 };
      return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, count(value.bytes)), h("td", {}, count(value.blocks)));
    })));
}

function stages_table(model: Model): Child {
  const { stages } = model.report.totals;
  if (!stages?.length) return null;
  return h("table", {}, h("caption", {}, "Candidates per stage"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Stage"), h("th", { scope: "col" }, "In"), h("th", { scope: "col" }, "Out"))),
    h("tbody", {}, stages.map((stage) => h("tr", {}, h("th", { scope: "row" }, stage.name), h("td", {}, count(stage.in)),
      h("td", {}, count(stage.out))))));
}

export function about(model: Model): HTMLElement {
  const { tool, subject, notes, modules } = model.report;
  return h("section", { class: "about" }, h("h1", {}, "About this report"),
    h("dl", { class: "facts" },
      row("Program", subject?.command && h("code", {}, subject.command.join(" "))),
      row("Analysed by", `${tool.name} ${tool.version ?? ""} ${tool.engine}${tool.mode ? ` (${tool.mode})` : ""}`),
      row("Directory", subject?.cwd && h("code", {}, subject.cwd)),
      row("Started", subject?.started), row("Took", subject?.duration === undefined ? "" : seconds(subject.duration)),
      row("Process", subject?.pid === undefined ? "" : String(subject.pid)), row("Host", subject?.host),
      row("Ended with", ending(model)), row("Units", subject?.units === undefined ? "" : count(subject.units)),
      row("In this page", `${plural(model.rows.length, "leak")}, ${plural(Object.keys(model.page.sources).length, "source file")}` +
        (model.page.cut ? "; further sources were left out" : ""))),
    h("p", {}, h("button", { type: "button", onclick: () =>
      save_file("report.json", "application/json", JSON.stringify(model.report, null, 1)) }, "Save the report as JSON")),
    h("h2", {}, "Notes"),
    notes?.length ? h("ul", { class: "notes" }, notes.map((note) => h("li", {}, h("p", {}, note.text),
      note.remedy && h("p", { class: "remedy" }, note.remedy)))) : h("p", {}, "Nothing limits the result."),
    totals_table(model), stages_table(model),
    modules?.length ? h("details", { class: "modules" }, h("summary", {}, plural(modules.length, "module")),
      h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Modules" }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Module"), h("th", { scope: "col" }, "Debug information"), h("th", { scope: "col" }, "Build id"))),
        h("tbody", {}, modules.map((module) => h("tr", {}, h("td", {}, module.path ?? "?"), h("td", {}, module.debug ?? "?"),
          h("td", {}, h("code", {}, module.buildId ?? "")))))))) : null);
}
