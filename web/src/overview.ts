// The first view: what was lost in all, and the ranked table with its filters.

import { fill, h, type Child } from "./dom";
import { base_name, bytes, count, percent, plural } from "./format";
import type { Model, Row } from "./model";
import type { Count, Kind } from "./report";
import { choices, grouped, is_group, selected, sorted, type GroupItem, type Item } from "./select";
import { link_to, type Group, type SortKey, type State } from "./state";
import { VirtualTable, type Column } from "./table";

export interface App {
  model: Model;
  state: State;
  change: (change: Partial<State>) => void; // the address follows, the view stays
  go: (change: Partial<State>) => void; // another view
}

const KINDS: Kind[] = ["lost", "stale", "forgotten", "double-free", "mismatched-free"];
const MEANING: { [kind in Kind]: string } = {
  lost: "nothing refers to it any more",
  stale: "held, but not used for long",
  forgotten: "still held at the end, never freed",
  "double-free": "freed, and freed again",
  "mismatched-free": "freed in another way than it was allocated",
};

// --- figures ----------------------------------------------------------------

function kind_card(app: App, kind: Kind, total: Count, leaks: number, hidden: number, redraw: () => void): HTMLElement {
  const on = () => app.state.kinds.length === 1 && app.state.kinds[0] === kind;
  const card = h("button", {
    type: "button", class: `card k-${kind}`, "aria-pressed": String(on()), title: `Show only ${kind}`,
    onclick: () => {
      app.change({ kinds: on() ? [] : [kind] });
      redraw();
    },
  },
  h("span", { class: "card-kind" }, kind),
  h("span", { class: "card-figure" }, app.model.is_static ? count(leaks) : bytes(total.bytes)),
  h("span", { class: "card-more" }, app.model.is_static ? (leaks === 1 ? "finding" : "findings")
    : `${plural(total.blocks, "block")} · ${plural(leaks, "leak")}${hidden ? ` (${hidden} hidden)` : ""}`),
  h("span", { class: "card-meaning" }, MEANING[kind]));
  return card;
}

// All that was allocated, by what became of it.
function accounting(model: Model): HTMLElement | null {
  const totals = model.report.totals;
  const all = totals.allocated?.bytes ?? 0;
  if (all === 0) return null;
  const parts = (["freed", "lost", "stale", "forgotten", "excluded"] as const)
    .map((name) => ({ name, value: totals[name]?.bytes ?? 0 })).filter((part) => part.value > 0);
  return h("figure", { class: "accounting" },
    h("div", { class: "bar", role: "img", "aria-label":
      `Of ${bytes(all)} allocated: ${parts.map((part) => `${bytes(part.value)} ${part.name}`).join(", ")}` },
      parts.map((part) => h("span", { class: `part k-${part.name}`, vars: { "--share": String(part.value / all) } }))),
    h("figcaption", {}, h("span", {}, `${bytes(all)} allocated in ${plural(totals.allocated?.blocks ?? 0, "block")}`),
      parts.map((part) => h("span", { class: `key k-${part.name}` },
        `${part.name} ${percent(part.value / all)}`))));
}

function static_line(model: Model): HTMLElement | null {
  const totals = model.report.totals;
  if (!model.is_static) return null;
  const words = [
    totals.functions !== undefined && plural(totals.functions, "function"),
    totals.units !== undefined && `${plural(totals.units, "unit")} analysed`,
    totals.undecided ? `${count(totals.undecided)} undecided` : "",
    totals.skippedUnits ? `${plural(totals.skippedUnits, "unit")} skipped` : "",
  ].filter((word) => word);
  return h("p", { class: "static-line" }, words.join(" · "));
}

function headline(model: Model): string {
  const shown = model.rows.filter((row) => !row.leak.suppressed && !row.leak.known);
  const lost = shown.filter((row) => row.kind === "lost");
  if (model.is_static) return lost.length === 0 ? "No leak found" : `${plural(lost.length, "leak")} found`;
  const leaks = shown.filter((row) => row.kind !== "forgotten");
  const sum = leaks.reduce((total, row) => total + row.bytes, 0);
  if (leaks.length === 0) return "Nothing leaked";
  const kinds = KINDS.filter((kind) => leaks.some((row) => row.kind === kind)).join(" or ");
  return `${bytes(sum)} ${kinds} in ${plural(leaks.length, "leak")}`;
}

// --- the table --------------------------------------------------------------

function size_cell(value: number, most: number): Child {
  return [h("span", { class: "meter", "aria-hidden": "true", vars: { "--share": String(most ? value / most : 0) } }),
    h("span", {}, bytes(value))];
}

function columns(app: App, most: () => number): Column<Item>[] {
  const { model } = app;
  const row_only = (cell: (row: Row) => Child) => (item: Item): Child => (is_group(item) ? null : cell(item));
  const all: (Column<Item> | false)[] = [
    !model.is_static && { key: "bytes", label: "Bytes", width: "minmax(7.5rem, .7fr)", sortable: true, number: true,
      cell: (item) => size_cell(item.bytes, most()) },
    !model.is_static && { key: "blocks", label: "Blocks", width: "6rem", sortable: true, number: true,
      cell: (item) => count(item.blocks) },
    model.has_drag && { key: "drag", label: "Drag", width: "7rem", sortable: true, number: true,
      cell: row_only((row) => (row.drag ? bytes(row.drag).replace(/B$/, "B·s") : "")),
      text: () => "bytes times idle time" },
    model.is_static && { key: "confidence", label: "Confidence", width: "8rem", sortable: true, number: true,
      cell: row_only((row) => percent(row.confidence)) },
    { key: "kind", label: "Kind", width: "8.5rem", sortable: true, cell: (item) => is_group(item)
      ? h("span", { class: "group-count" }, plural(item.rows.length, "leak"))
      : [h("span", { class: `badge k-${item.kind}` }, item.kind), hidden_mark(item)] },
    { key: "fn", label: "Function", width: "minmax(10rem, 1.5fr)", sortable: true,
      cell: (item) => is_group(item) ? group_label(item)
        : [h("span", { class: "fn" }, item.fn), h("span", { class: "cause" }, cause_cell(item))],
      text: (item) => is_group(item) ? item.label : item.place?.function ?? "" },
    { key: "where", label: "Place", width: "minmax(9rem, 1.2fr)", sortable: true,
      cell: (item) => is_group(item) ? item.detail : short_path(item.where),
      text: (item) => is_group(item) ? item.detail : item.where },
    model.has_holder && { key: "holder", label: "Holder", width: "minmax(6rem, .8fr)", sortable: true,
      cell: row_only((row) => h("code", {}, row.holder)), text: (item) => is_group(item) ? "" : item.holder },
  ];
  return all.filter((column): column is Column<Item> => column !== false);
}

const short_path = (where: string): string => (where.length > 44 && where.includes("/") ? base_name(where) : where);
const cause_cell = (row: Row): string => row.leak.loss?.cause ?? row.leak.when ?? "";
function hidden_mark(row: Row): Child {
  if (row.leak.suppressed) return h("span", { class: "hidden-mark" }, "suppressed");
  return row.leak.known && h("span", { class: "hidden-mark" }, "known");
}
const group_label = (item: GroupItem): Child => h("span", { class: "fn" }, item.label);

// --- filters ----------------------------------------------------------------

function select_box(label: string, value: string, options: [string, string][], on_change: (value: string) => void,
                    extra = ""): HTMLElement {
  const box = h("select", { onchange: () => on_change(box.value) },
    options.map(([key, text]) => h("option", { value: key }, text)));
  box.value = value;
  return h("label", { class: `field ${extra}` }, h("span", {}, label), box);
}

function toggle(label: string, on: boolean, change: (on: boolean) => void): HTMLElement {
  const box = h("input", { type: "checkbox", onchange: () => change(box.checked) });
  box.checked = on;
  return h("label", { class: "toggle" }, box, label);
}

export class Overview {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  private readonly table: VirtualTable<Item>;
  private readonly cards: HTMLElement;
  private readonly summary: HTMLElement;
  private readonly open_groups = new Set<string>();
  private most = 0;

  constructor(private readonly app: App) {
    const { model, state } = app;
    this.search = h("input", {
      type: "search", placeholder: "Function, file, holder, id …", "aria-label": "Filter by text",
      autocomplete: "off", spellcheck: "false", oninput: () => this.changed({ q: this.search.value }),
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== "ArrowDown" && event.key !== "Enter") return;
        event.preventDefault();
        this.table.focus();
      },
    });
    this.search.value = state.q;
    this.cards = h("div", { class: "cards" });
    this.summary = h("p", { class: "result", role: "status", "aria-live": "polite" });
    this.table = new VirtualTable<Item>({
      label: "Leaks", columns: columns(app, () => this.most),
      sort: { key: state.sort, descending: state.descending },
      on_sort: (key) => this.sort(key as SortKey),
      on_open: (item) => this.open(item),
      row_class: (item) => is_group(item) ? "group" : `k-${item.kind}${item.leak.suppressed || item.leak.known ? " dim" : ""}`,
      expanded: (item) => (is_group(item) ? this.open_groups.has(item.key) : undefined),
      empty: model.rows.length === 0 ? "No leak was found." : "No leak matches these filters.",
    });
    this.element = h("section", { class: "overview", "aria-labelledby": "headline" },
      h("h1", { id: "headline" }, headline(model)),
      static_line(model), this.cards, accounting(model), this.filters(), this.summary, this.table.element);
    this.draw();
  }

  dispose(): void {
    this.table.dispose();
  }

  // After the element is in the page.
  shown(): void {
    this.draw_rows();
  }

  focus_table(): void {
    this.table.focus();
  }

  move(by: number): void {
    this.table.focus();
    this.table.move(by);
  }

  // The rows as they stand, for stepping from leak to leak.
  rows(): Row[] {
    return sorted(selected(this.app.model, this.app.state), this.app.state);
  }

  private changed(change: Partial<State>): void {
    this.app.change(change);
    this.draw();
  }

  private sort(key: SortKey): void {
    const { state } = this.app;
    const figures = ["bytes", "blocks", "drag", "confidence"].includes(key);
    const descending = state.sort === key ? !state.descending : figures;
    this.app.change({ sort: key, descending });
    this.table.sort(key, descending);
    this.draw();
  }

  private open(item: Item): void {
    if (!is_group(item)) {
      this.app.go({ leak: item.leak.id });
      return;
    }
    if (!this.open_groups.delete(item.key)) this.open_groups.add(item.key);
    this.draw_rows(true);
  }

  private filters(): HTMLElement {
    const { model, state } = this.app;
    const totals = { suppressed: 0, known: 0 };
    for (const row of model.rows) {
      totals.suppressed += row.leak.suppressed ? 1 : 0;
      totals.known += row.leak.known ? 1 : 0;
    }
    const all = (label: string, list: [string, number][]): [string, string][] =>
      [["", label], ...list.map(([value, number]): [string, string] => [value, `${short_path(value)} (${number})`])];
    const files = choices(model, (row) => row.file);
    const modules = choices(model, (row) => row.module);
    return h("div", { class: "filters", role: "search" },
      h("div", { class: "search" }, this.search, h("kbd", { "aria-hidden": "true" }, "/")),
      files.length > 1 && select_box("File", state.file, all("all files", files), (file) => this.changed({ file })),
      modules.length > 1 && select_box("Module", state.module, all("all modules", modules),
        (module) => this.changed({ module })),
      select_box("Group by", state.group, [["", "nothing"], ["allocation", "allocation site"], ["loss", "leak site"],
        ["file", "file"], ["module", "module"]], (group) => this.changed({ group: group as Group })),
      select_box("Sort by", state.sort ? (state.descending ? "-" : "") + state.sort : "",
        [["", "rank"], ["-bytes", "bytes"], ["-blocks", "blocks"], ["kind", "kind"], ["fn", "function"], ["where", "place"]],
        (sort) => {
          this.app.change({ sort: sort.replace("-", "") as SortKey, descending: sort.startsWith("-") });
          this.table.sort(sort.replace("-", ""), sort.startsWith("-"));
          this.draw();
        }, "narrow-only"),
      totals.suppressed > 0 && toggle(`suppressed (${totals.suppressed})`, state.suppressed,
        (suppressed) => this.changed({ suppressed })),
      totals.known > 0 && toggle(`in the baseline (${totals.known})`, state.known, (known) => this.changed({ known })));
  }

  private draw(): void {
    this.draw_cards();
    this.draw_rows();
  }

  private draw_cards(): void {
    const { model } = this.app;
    const cards = KINDS.map((kind) => {
      const rows = model.rows.filter((row) => row.kind === kind);
      const totals: { [name: string]: unknown } = { ...model.report.totals };
      const total = (totals[kind] as Count | undefined) ?? { blocks: 0, bytes: 0 };
      if (rows.length === 0 && (model.is_static || total.blocks === 0)) return null;
      return kind_card(this.app, kind, total, rows.length,
        rows.filter((row) => row.leak.suppressed || row.leak.known).length, () => this.draw());
    });
    const focused = this.cards.contains(document.activeElement);
    const at = [...this.cards.children].indexOf(document.activeElement as Element);
    fill(this.cards, cards);
    if (focused) (this.cards.children[at] as HTMLElement | undefined)?.focus();
  }

  private draw_rows(keep = false): void {
    const { model, state } = this.app;
    const rows = this.rows();
    let items: Item[] = rows;
    if (state.group) {
      const groups = grouped(model, rows, state);
      this.most = groups.reduce((most, group) => Math.max(most, group.bytes), 0);
      items = [];
      for (const group of groups) {
        items.push(group);
        if (this.open_groups.has(group.key)) for (const row of group.rows) items.push(row);
      }
    } else {
      this.most = rows.reduce((most, row) => Math.max(most, row.bytes), 0);
    }
    const filtered = rows.length !== model.rows.length;
    const sum = rows.reduce((total, row) => total + row.bytes, 0);
    fill(this.summary, `${plural(rows.length, model.is_static ? "finding" : "leak")}`,
      filtered && ` of ${count(model.rows.length)}`, !model.is_static && `, ${bytes(sum)}`,
      state.group && `, ${plural(items.filter(is_group).length, "group")}`, " ",
      filtered && this.filter_is_set() && h("a", { href: link_to(state, { q: "", kinds: [], file: "", module: "" }), class: "clear" },
        "clear filters"));
    this.table.set(items, keep);
  }

  private filter_is_set(): boolean {
    const { q, kinds, file, module } = this.app.state;
    return q !== "" || kinds.length > 0 || file !== "" || module !== "";
  }
}
