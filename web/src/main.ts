// The page: reads the report that stands in it, shows the view that the address
// names, and gives the keys their meaning.

import "./page.css";

import { about } from "./about";
import { Charts } from "./chart";
import { show_editor_settings, show_keys } from "./dialogs";
import { fill, h, say, type Child } from "./dom";
import { Flame } from "./flame";
import { base_name } from "./format";
import { LeakView } from "./leak";
import { follow, type LiveState } from "./live";
import { Model } from "./model";
import { Overview, type App } from "./overview";
import { assemble, read_embedded, type PageData, type Report } from "./report";
import { selected, sorted } from "./select";
import { Sources } from "./source";
import { link_to, parse_hash, to_hash, type State, type View } from "./state";
import { apply_theme, next_theme, theme_now } from "./theme";

const VIEWS: [View, string][] = [["leaks", "Leaks"], ["flame", "Flame graph"], ["time", "Over time"], ["about", "About"]];

const LIVE: { [state in LiveState]: string } = { live: "live", ended: "the program ended", lost: "plumb does not answer" };

class Page implements App {
  model: Model;
  state: State = parse_hash(window.location.hash);
  private sources: Sources;
  private readonly head = h("header", { class: "top" });
  private readonly main = h("main", { id: "main", tabindex: -1 });
  private overview: Overview | undefined;
  private leak: LeakView | undefined;
  private drawn: { draw: () => void } | undefined;
  private live: LiveState | undefined;
  private scroll = 0; // of the table, for coming back to it

  constructor() {
    const { report, page } = read_embedded();
    this.model = new Model(report, page);
    this.sources = new Sources(page.sources);
    document.body.prepend(h("a", { class: "skip", href: "#main", onclick: (event: Event) => {
      event.preventDefault();
      this.main.focus();
    } }, "Skip to the content"), this.head, this.main);
    window.addEventListener("hashchange", () => this.arrive());
    window.addEventListener("keydown", (event) => this.key(event));
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== width) this.drawn?.draw();
      width = window.innerWidth;
    });
    this.show();
    if (page.live) {
      follow(page.live.every, (news, more) => this.renew(news, more), (state) => {
        this.live = state;
        this.show_head();
      });
    }
  }

  // Another report in place of the one shown; where the reader is stays as it is.
  private renew(news: Report, more: PageData): void {
    const before = JSON.stringify(this.model.by_id.get(this.state.leak)?.leak);
    const { report, page } = assemble(news, more);
    this.model = new Model(report, page);
    this.sources = new Sources(page.sources);
    // A leak that is being read changes under the reader only when it changed.
    if (this.leak && JSON.stringify(this.model.by_id.get(this.state.leak)?.leak) === before) {
      this.show_head();
      return;
    }
    const scroll = window.scrollY;
    const search = this.overview?.search;
    const typing = search !== undefined && document.activeElement === search;
    const in_table = this.main.querySelector(".table") === document.activeElement;
    const caret = search?.selectionStart ?? 0;
    this.show();
    if (typing && this.overview) {
      this.overview.search.focus({ preventScroll: true });
      this.overview.search.setSelectionRange(caret, caret);
    } else if (in_table) this.overview?.focus_table();
    window.scrollTo(0, scroll);
  }

  change(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    history.replaceState(null, "", to_hash(this.state));
  }

  go(change: Partial<State>): void {
    // At once, not when the browser gets to tell of it: the next key is for the new view.
    history.pushState(null, "", to_hash({ ...this.state, leak: "", ...change }));
    this.arrive();
  }

  private arrive(): void {
    const before = this.state;
    this.state = parse_hash(window.location.hash);
    // A link to a leak alone keeps what was filtered.
    if (this.state.leak && this.state.leak !== before.leak && window.location.hash === `#leak=${this.state.leak}`) {
      this.state = { ...before, leak: this.state.leak };
    }
    if (this.overview && this.state.leak) this.scroll = window.scrollY;
    this.show();
    if (this.state.leak) {
      window.scrollTo(0, 0);
      document.getElementById("leak-title")?.focus({ preventScroll: true });
    } else if (before.leak && this.overview) {
      window.scrollTo(0, this.scroll);
      this.overview.focus_table();
    } else if (before.view !== this.state.view) {
      window.scrollTo(0, 0);
      this.main.focus({ preventScroll: true });
    }
  }

  private show(): void {
    this.overview?.dispose();
    this.overview = undefined;
    this.leak = undefined;
    this.drawn = undefined;
    this.show_head();
    const row = this.state.leak ? this.model.by_id.get(this.state.leak) : undefined;
    if (row) {
      this.leak = new LeakView({ model: this.model, sources: this.sources, state: this.state, rows: this.rows() }, row);
      fill(this.main, this.leak.element);
    } else if (this.state.view === "flame") this.show_flame();
    else if (this.state.view === "time") {
      const charts = new Charts(this.model.report.series ?? []);
      this.draw_in(charts.element, charts);
    } else if (this.state.view === "about") fill(this.main, about(this.model));
    else {
      this.overview = new Overview(this);
      fill(this.main, this.state.leak && h("p", { class: "hidden-note", role: "alert" },
        `This report has no leak ${this.state.leak}.`), this.overview.element);
      this.overview.shown();
    }
  }

  private rows() {
    return sorted(selected(this.model, this.state), this.state);
  }

  private draw_in(element: HTMLElement, drawing: { draw: () => void }): void {
    fill(this.main, element);
    drawing.draw();
    this.drawn = drawing;
  }

  private show_flame(): void {
    const { by } = this.state;
    const rows = this.rows();
    const flame = new Flame(this.model, rows, by);
    const choice = (which: "allocation" | "loss", label: string) => h("a", {
      class: "choice", href: link_to(this.state, { by: which }), "aria-current": which === by ? "true" : undefined,
    }, label);
    this.draw_in(h("section", { class: "flames" },
      h("div", { class: "title-row" }, h("h1", {}, this.model.is_static ? "Findings by stack" : "Leaked bytes by stack"),
        h("div", { class: "choices", role: "group", "aria-label": "Which stack" }, choice("allocation", "Allocation"), choice("loss", "Loss"))),
      rows.length !== this.model.rows.length && h("p", { class: "faint" },
        `Only the ${rows.length} leaks that the filters leave.`),
      flame.element), flame);
  }

  private show_head(): void {
    const { report } = this.model;
    const notes = report.notes?.length ?? 0;
    const tab = ([view, label]: [View, string]): Child => {
      if (view === "time" && !report.series?.length) return null;
      const here = !this.state.leak && this.state.view === view;
      return h("a", { href: link_to(this.state, { view }), "aria-current": here ? "page" : undefined }, label,
        view === "about" && notes > 0 && h("span", { class: "pill", "aria-label": `${notes} notes` }, notes));
    };
    const theme = h("button", { type: "button", class: "quiet", id: "theme", onclick: () => this.theme(),
      "aria-label": `Theme: ${theme_now()}` }, h("span", { class: "wide" }, "Theme: "), theme_now());
    const command = report.subject?.command ?? [];
    fill(this.head,
      h("div", { class: "brand" }, h("span", { class: "mark", "aria-hidden": "true" }), h("b", {}, "plumb"),
        h("span", { class: "subject", title: command.join(" ") }, command.length ? [base_name(command[0]!), command.slice(1).map((word) => ` ${word}`)] : "",
          h("span", { class: "faint" }, ` ${report.tool.engine}`)),
        this.live && h("span", { class: `live ${this.live}`, role: "status" }, LIVE[this.live])),
      h("nav", { "aria-label": "Views" }, VIEWS.map(tab)),
      h("div", { class: "tools" },
        h("button", { type: "button", class: "quiet", id: "editor", onclick: () => show_editor_settings(() => this.show()) }, "Editor"),
        theme, h("button", { type: "button", class: "quiet", "aria-label": "Keys", onclick: show_keys }, "?")));
  }

  private theme(): void {
    const now = next_theme();
    this.show_head();
    document.getElementById("theme")?.focus();
    say(`Theme: ${now === "auto" ? "as the system" : now}`);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
    if (event.key === "Escape") {
      if (typing) target.blur();
      else if (this.state.leak) this.go({});
      return;
    }
    if (typing) return;
    if (this.leak?.walker && event.key.startsWith("Arrow") && !target.closest(".code, .scroll, .flame-svg")) {
      this.leak.walker.key(event);
      return;
    }
    const click = (id: string) => () => document.getElementById(id)?.click();
    const meaning: { [key: string]: () => void } = {
      "?": show_keys, "t": () => this.theme(), "c": click("copy-text"), "s": click("copy-suppression"),
      "l": click("copy-link"), "e": click("open-editor"),
      "j": () => (this.overview ? this.overview.move(1) : click("next")()),
      "k": () => (this.overview ? this.overview.move(-1) : click("previous")()),
      "/": () => {
        if (!this.overview) this.go({ view: "leaks" });
        this.overview?.search.focus();
      },
    };
    VIEWS.forEach(([view], i) => {
      meaning[String(i + 1)] = () => this.go({ view });
    });
    const act = meaning[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

apply_theme();
try {
  new Page();
} catch (error) {
  document.body.prepend(h("p", { class: "failed", role: "alert" }, `This report cannot be shown: ${String(error)}`));
  throw error;
}
