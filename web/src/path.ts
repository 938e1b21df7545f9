// The path of a static finding, walked step by step: the steps on one side, the
// source with the current step on the other. Arrow keys walk.

import { fill, h, type Child } from "./dom";
import type { Model } from "./model";
import type { Step } from "./report";
import { excerpt, no_source, type Mark, type MarkKind, type Sources } from "./source";

const KIND: { [event: string]: MarkKind } = { allocate: "alloc", lose: "loss", use: "use", free: "free" };

function step_words(step: Step): Child {
  const branch = step.branch && h("span", { class: `branch ${step.branch === "not taken" ? "no" : "yes"}` }, step.branch);
  if (step.condition) {
    return [h("span", { class: "step-event" }, "branch"), h("code", { class: "condition" }, step.condition), branch];
  }
  return [h("span", { class: "step-event" }, step.event ?? ""), h("span", {}, step.text ?? step.call ?? ""), branch];
}

export class PathWalker {
  readonly element: HTMLElement;
  private readonly buttons: HTMLButtonElement[];
  private readonly source = h("div", { class: "path-source", "aria-live": "polite" });
  private readonly position = h("span", { class: "position" });
  private at = 0;

  constructor(private readonly model: Model, private readonly sources: Sources, private readonly steps: Step[]) {
    this.buttons = steps.map((step, i) => h("button", {
      type: "button", class: "step", tabindex: -1, onclick: () => this.go(i, true),
    }, step_words(step), h("span", { class: "where" }, model.where(step.location))));
    this.element = h("div", {
      class: "path", role: "group", "aria-label": "Path, step by step; the arrow keys walk along it",
      onkeydown: (event: KeyboardEvent) => this.key(event),
    },
    h("div", { class: "path-steps" },
      h("div", { class: "path-bar" },
        h("button", { type: "button", class: "quiet", "aria-label": "Previous step", onclick: () => this.go(this.at - 1) }, "←"),
        this.position,
        h("button", { type: "button", class: "quiet", "aria-label": "Next step", onclick: () => this.go(this.at + 1) }, "→"),
        h("span", { class: "hint" }, "arrow keys walk")),
      h("ol", {}, this.buttons.map((button, i) => h("li", { class: `e-${KIND[steps[i]!.event ?? ""] ?? "step"}` }, button)))),
    this.source);
    this.go(0);
  }

  key(event: KeyboardEvent): boolean {
    const by: { [key: string]: number } = {
      ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -this.steps.length, End: this.steps.length,
    };
    const step = by[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return false;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.at + step, true);
    return true;
  }

  go(index: number, focus = false): void {
    this.at = Math.max(0, Math.min(this.steps.length - 1, index));
    this.buttons.forEach((button, i) => {
      button.tabIndex = i === this.at ? 0 : -1;
      if (i === this.at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    fill(this.position, `step ${this.at + 1} of ${this.steps.length}`);
    const step = this.steps[this.at]!;
    const { location } = step;
    if (location?.file && location.line && this.sources.has(location.file, location.line)) {
      fill(this.source, excerpt(this.model, this.sources, {
        file: location.file, context: 7, marks: this.marks(location.file),
      }));
      this.source.querySelector(".line.now")?.classList.remove("now");
      this.source.querySelector(`.line[data-line="${location.line}"]`)?.classList.add("now");
    } else {
      fill(this.source, no_source(this.model, location?.file));
    }
    if (focus) this.buttons[this.at]!.focus({ preventScroll: false });
  }

  // The current step, with its words, and the way that led to it.
  private marks(file: string): Mark[] {
    const step = this.steps[this.at]!;
    const label = step.condition ? `${step.condition}: ${step.branch ?? ""}` : step.text ?? step.event ?? "";
    const now: Mark = { line: step.location!.line!, kind: KIND[step.event ?? ""] ?? "step", label };
    if (step.location!.column) now.column = step.location!.column;
    const marks: Mark[] = [now];
    for (const other of this.steps.slice(0, this.at)) {
      const line = other.location?.line;
      if (other.location?.file !== file || !line || Math.abs(line - now.line) > 40 || line === now.line) continue;
      marks.push({ line, kind: KIND[other.event ?? ""] ?? "step", label: "" });
    }
    return marks;
  }
}
