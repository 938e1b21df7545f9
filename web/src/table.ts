// A table of any length: only the rows in sight exist. Rows have one height and
// are placed by their number, so the page scrolls as if all were there.
//
// The grid itself has the focus and names the active row (aria-activedescendant),
// since a row that scrolls out of sight is gone.

import { fill, h, type Child } from "./dom";

export interface Column<T> {
  key: string;
  label: string;
  width: string; // of grid-template-columns
  sortable: boolean;
  number?: boolean;
  cell: (item: T) => Child;
  text?: (item: T) => string; // a title where the cell may be cut off
}

export interface TableOptions<T> {
  label: string;
  columns: Column<T>[];
  sort: { key: string; descending: boolean };
  on_sort: (key: string) => void;
  on_open: (item: T) => void;
  row_class: (item: T) => string;
  expanded?: (item: T) => boolean | undefined;
  empty: Child;
}

const MARGIN = 10; // rows beyond the edges, so that scrolling shows no gap
const MOST_PRINTED = 1000;

export class VirtualTable<T> {
  readonly element: HTMLElement;
  private readonly body: HTMLElement;
  private readonly shown = new Map<number, HTMLElement>();
  private items: T[] = [];
  private active = 0;
  private height = 40;
  private printing = false;
  private waiting = false;

  constructor(private readonly options: TableOptions<T>) {
    this.body = h("div", { class: "rows", role: "rowgroup" });
    this.element = h("div", {
      class: "table", role: "grid", tabindex: 0, "aria-label": options.label,
      onkeydown: (event: KeyboardEvent) => this.key(event),
      vars: { "--cols": options.columns.map((column) => column.width).join(" ") },
    }, h("div", { class: "head", role: "rowgroup" }, this.head_row()), this.body);
    const soon = () => this.soon();
    window.addEventListener("scroll", soon, { passive: true });
    window.addEventListener("resize", soon);
    const print = (on: boolean) => () => {
      this.printing = on;
      this.redraw();
    };
    const before = print(true);
    const after = print(false);
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
    this.dispose = () => {
      window.removeEventListener("scroll", soon);
      window.removeEventListener("resize", soon);
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
    };
  }

  readonly dispose: () => void;

  set(items: T[], keep_active = false): void {
    this.items = items;
    if (!keep_active) this.active = 0;
    this.active = Math.min(this.active, Math.max(0, items.length - 1));
    const unfolds = items.length > 0 && this.options.expanded?.(items[0]!) !== undefined;
    this.element.setAttribute("role", unfolds ? "treegrid" : "grid");
    this.element.setAttribute("aria-rowcount", String(items.length + 1));
    this.redraw();
  }

  sort(key: string, descending: boolean): void {
    this.options.sort = { key, descending };
    fill(this.element.firstElementChild!, this.head_row());
  }

  focus(): void {
    this.element.focus({ preventScroll: true });
  }

  move(by: number): void {
    this.go_to(this.active + by);
  }

  private head_row(): HTMLElement {
    const { columns, sort, on_sort } = this.options;
    return h("div", { class: "row", role: "row", "aria-rowindex": 1 }, columns.map((column) => {
      const on = sort.key === column.key;
      return h("div", {
        class: `cell c-${column.key}${column.number ? " number" : ""}`, role: "columnheader",
        "aria-sort": !column.sortable ? undefined : on ? (sort.descending ? "descending" : "ascending") : "none",
      }, column.sortable
        ? h("button", { type: "button", class: "sort", onclick: () => on_sort(column.key) }, column.label,
            h("span", { class: "arrow", "aria-hidden": "true" }, on ? (sort.descending ? "↓" : "↑") : ""))
        : column.label);
    }));
  }

  private redraw(): void {
    for (const row of this.shown.values()) row.remove();
    this.shown.clear();
    fill(this.body, this.items.length === 0 ? h("div", { role: "row" },
      h("div", { class: "empty", role: "gridcell" }, this.options.empty)) : null);
    const height = getComputedStyle(this.element).getPropertyValue("--row").trim();
    this.height = Number.parseFloat(height) || 40;
    this.body.style.height = this.items.length ? `${this.items.length * this.height}px` : "";
    this.draw();
  }

  private soon(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const height = Number.parseFloat(getComputedStyle(this.element).getPropertyValue("--row"));
      if (height && height !== this.height) this.redraw();
      else this.draw();
    });
  }

  private draw(): void {
    const top = this.body.getBoundingClientRect().top;
    let first = Math.max(0, Math.floor(-top / this.height) - MARGIN);
    let last = Math.min(this.items.length, Math.ceil((window.innerHeight - top) / this.height) + MARGIN);
    if (this.printing) {
      first = 0;
      last = Math.min(this.items.length, MOST_PRINTED);
    }
    for (const [index, row] of this.shown) {
      if (index >= first && index < last) continue;
      row.remove();
      this.shown.delete(index);
    }
    const fresh = document.createDocumentFragment();
    for (let index = first; index < last; ++index) {
      if (this.shown.has(index)) continue;
      const row = this.row(index);
      this.shown.set(index, row);
      fresh.appendChild(row);
    }
    this.body.appendChild(fresh);
    this.mark();
  }

  private row(index: number): HTMLElement {
    const item = this.items[index]!;
    const expanded = this.options.expanded?.(item);
    const row = h("div", {
      class: `row ${this.options.row_class(item)}`, role: "row", id: `row-${index}`, "aria-rowindex": index + 2,
      "aria-expanded": expanded === undefined ? undefined : String(expanded),
      onclick: (event: MouseEvent) => {
        if ((event.target as Element).closest("a")) return;
        if (window.getSelection()?.toString()) return; // text was marked, not clicked
        this.active = index;
        this.options.on_open(item);
      },
    }, this.options.columns.map((column) => h("div", {
      class: `cell c-${column.key}${column.number ? " number" : ""}`, role: "gridcell", title: column.text?.(item),
    }, column.cell(item))));
    row.style.top = `${index * this.height}px`;
    return row;
  }

  private mark(): void {
    for (const [index, row] of this.shown) {
      row.classList.toggle("active", index === this.active);
      row.setAttribute("aria-selected", String(index === this.active));
    }
    if (this.shown.has(this.active)) this.element.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  private go_to(index: number): void {
    if (this.items.length === 0) return;
    this.active = Math.max(0, Math.min(this.items.length - 1, index));
    const head = (this.element.firstElementChild as HTMLElement).offsetHeight;
    const top = this.body.getBoundingClientRect().top + this.active * this.height;
    if (top < head) window.scrollBy(0, top - head);
    else if (top + this.height > window.innerHeight) window.scrollBy(0, top + this.height - window.innerHeight);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.element || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(window.innerHeight / this.height) - 2);
    const steps: { [key: string]: number } = {
      ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.items.length, End: this.items.length,
    };
    const step = steps[event.key];
    if (step !== undefined) this.go_to(this.active + step);
    else if (event.key === "Enter" && this.items[this.active]) this.options.on_open(this.items[this.active]!);
    else return;
    event.preventDefault();
  }
}
