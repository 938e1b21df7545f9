// Figures over time, one drawing each: a line over an area, axes with round
// numbers, and a reading at the pointer. The figures stand below as a table for
// those who cannot see the line.

import { fill, h, s } from "./dom";
import { bytes, count, figure, seconds } from "./format";
import type { Sample } from "./report";
import { save_button } from "./svg_save";

interface Line { name: string; title: string; value: (sample: Sample) => number | undefined; words: (value: number) => string }

const LINES: Line[] = [
  { name: "heap-bytes", title: "Heap size", value: (sample) => sample.heapBytes, words: bytes },
  { name: "live-blocks", title: "Live blocks", value: (sample) => sample.liveBlocks, words: (value) => short_count(value) },
  { name: "stale-bytes", title: "Stale bytes", value: (sample) => sample.staleBytes, words: bytes },
];

const HEIGHT = 200;
const LEFT = 64;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 26;

const short_count = (value: number): string => (value < 10_000 ? count(value) : bytes(value).replace(/ ?B$/, ""));

// Up to n round steps that cover [0, most].
function ticks(most: number, n: number): number[] {
  if (most <= 0) return [0];
  const raw = most / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((value) => value >= raw) ?? raw;
  const out = [];
  for (let value = 0; value <= most * 1.0001; value += step) out.push(value);
  return out;
}

// Round times in the unit that suits the whole.
function time_ticks(start: number, end: number, n: number): [number, string][] {
  const [unit, name] = end - start < 120 ? [1, "s"] : end - start < 7200 ? [60, "min"] : [3600, "h"];
  return ticks((end - start) / unit, n).map((value) => [start + value * unit, `${figure(start / unit + value)} ${name}`]);
}

interface Point { time: number; value: number }

class Chart {
  readonly element: HTMLElement;
  private readonly drawing = h("div", { class: "chart-drawing" });
  private readonly reading = h("output", { class: "reading" });

  constructor(private readonly line: Line, private readonly points: Point[]) {
    const last = points[points.length - 1]!;
    const table = h("details", { class: "figures" }, h("summary", {}, "Figures"),
      h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": `${line.title}, figures` }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Time"), h("th", { scope: "col" }, line.title))),
        h("tbody", {}, thinned(points, 100).map((point) =>
          h("tr", {}, h("td", {}, seconds(point.time)), h("td", {}, line.words(point.value))))))));
    this.element = h("figure", { class: "chart" },
      h("figcaption", {}, h("h2", {}, line.title), this.reading, save_button(line.name, () => this.drawing.querySelector("svg"))),
      this.drawing, table);
    this.read(last);
  }

  draw(): void {
    const width = Math.max(280, this.drawing.clientWidth || 800);
    const start = this.points[0]!.time;
    const end = this.points[this.points.length - 1]!.time;
    const most = Math.max(1, ...thinned(this.points, 5000).map((point) => point.value)) * 1.05;
    const x = (time: number) => LEFT + ((time - start) / (end - start || 1)) * (width - LEFT - RIGHT);
    const y = (value: number) => TOP + (1 - value / most) * (HEIGHT - TOP - BOTTOM);
    const shown = thinned(this.points, width * 2);
    const line = shown.map((point, i) => `${i ? "L" : "M"} ${x(point.time).toFixed(1)} ${y(point.value).toFixed(1)}`).join(" ");
    const area = `${line} L ${x(end).toFixed(1)} ${y(0)} L ${x(start).toFixed(1)} ${y(0)} z`;
    const cursor = s("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
    const dot = s("circle", { class: "cursor-dot", r: 3.5, visibility: "hidden" });
    const at = (event: PointerEvent) => {
      const box = svg.getBoundingClientRect();
      const time = start + ((event.clientX - box.left - LEFT) / (width - LEFT - RIGHT)) * (end - start);
      const point = this.points.reduce((best, other) =>
        Math.abs(other.time - time) < Math.abs(best.time - time) ? other : best);
      for (const [element, values] of [[cursor, { x1: x(point.time), x2: x(point.time) }],
        [dot, { cx: x(point.time), cy: y(point.value) }]] as const) {
        for (const [name, value] of Object.entries(values)) element.setAttribute(name, String(value));
        element.setAttribute("visibility", "visible");
      }
      this.read(point);
    };
    const svg = s("svg", {
      class: "chart-svg", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
      "aria-label": `${this.line.title} over ${seconds(end - start)}: from ${this.line.words(this.points[0]!.value)} to ` +
        this.line.words(this.points[this.points.length - 1]!.value),
      onpointermove: at,
    },
    ticks(most, 4).map((value) => [
      s("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
      s("text", { class: "tick", x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" },
        this.line.words(value).replace(/\.0+(?= )/, ""))]),
    time_ticks(start, end, width < 500 ? 3 : 6).map(([time, words]) =>
      s("text", { class: "tick", x: x(time), y: HEIGHT - 8, "text-anchor": time === start ? "start" : "middle" }, words)),
    s("path", { class: "area", d: area }), s("path", { class: "line-path", d: line }), cursor, dot);
    fill(this.drawing, svg);
  }

  private read(point: Point): void {
    fill(this.reading, `${this.line.words(point.value)} at ${seconds(point.time)}`);
  }
}

function thinned(points: Point[], most: number): Point[] {
  if (points.length <= most) return points;
  const step = points.length / most;
  const out: Point[] = [];
  for (let i = 0; i < points.length; i += step) out.push(points[Math.floor(i)]!);
  out.push(points[points.length - 1]!);
  return out;
}

export class Charts {
  readonly element: HTMLElement;
  private readonly charts: Chart[] = [];

  constructor(series: Sample[]) {
    for (const line of LINES) {
      const points = series.map((sample) => ({ time: sample.time, value: line.value(sample) }))
        .filter((point): point is Point => point.value !== undefined);
      if (points.length > 1) this.charts.push(new Chart(line, points));
    }
    this.element = h("section", { class: "charts" }, h("h1", {}, "Over time"),
      this.charts.length === 0 ? h("p", { class: "empty" },
        "This report has no figures over time; `plumb watch` records them.") : this.charts.map((chart) => chart.element));
  }

  draw(): void {
    for (const chart of this.charts) chart.draw();
  }
}

// Blocks by how long they have been idle, each bar twice the time of the one before.
export function histogram(values: number[]): SVGSVGElement {
  const most = Math.max(1, ...values);
  const width = 360;
  const bar = (width - 20) / Math.max(8, values.length);
  return s("svg", { class: "histogram", viewBox: `0 0 ${width} 90`, width, height: 90, role: "img",
    "aria-label": `Blocks by idle time, doubling: ${values.map((value) => count(value)).join(", ")}` },
  values.map((value, i) => {
    const height = (value / most) * 62;
    return [s("rect", { x: 10 + i * bar, y: 72 - height, width: Math.max(1, bar - 3), height: Math.max(value > 0 ? 1 : 0, height), rx: 1 }),
      s("text", { x: 10 + i * bar + (bar - 3) / 2, y: 85, "text-anchor": "middle" }, i % 2 === 0 || values.length < 10 ? `2^${i}` : "")];
  }));
}
