// The report as the JSON schema has it (docs/report.md), and what the writer adds
// for the page. Reading trusts the shape, which the writer has checked, but no
// text in it.

export type Kind = "lost" | "stale" | "forgotten" | "double-free" | "mismatched-free";
export interface Count { blocks: number; bytes: number }
export interface Frame {
  function?: string; linkage?: string; file?: string; line?: number; column?: number;
  functionLine?: number; inlined?: boolean; module?: number; offset?: number;
}
export type Stack = Frame[];
export interface Holder { name?: string; type?: string; storage?: string; chain?: string[] }
export interface Step {
  location?: Frame; event?: string; text?: string; branch?: string; condition?: string; call?: string;
}
export interface Summary {
  function: string; text?: string;
  nodes?: { id: string; label?: string; state?: string }[];
  edges?: { from: string; to: string; label?: string; before?: boolean }[];
}
export interface Age {
  unit?: string; verdict?: string; samples?: number; bytesLow?: number; bytesHigh?: number;
  first?: number; last?: number; active?: number; idle?: number; drag?: number; growth?: number;
  histogram?: number[]; missedChance?: number;
}
export interface Leak {
  id: string; kind: Kind; confidence?: number; resource?: string; when?: string;
  bytes: number; blocks: number; indirect?: Count; sizes?: { min: number; max: number };
  allocation: { stack?: Stack; api?: string };
  loss?: { cause?: string; stack?: Stack; holder?: Holder };
  lastUse?: { stack?: Stack; what?: string };
  window?: Frame[];
  frees?: { stack?: Stack; blocks: number }[];
  holders?: Holder[];
  path?: Step[];
  summaries?: Summary[];
  age?: Age;
  fix?: { place?: Frame; text: string };
  suppressed?: { by: string; reason?: string };
  known?: boolean;
}
export interface Sample { time: number; heapBytes: number; liveBlocks: number; staleBytes?: number }
export interface Note { code?: string; text: string; remedy?: string }
export interface Totals {
  allocated?: Count; freed?: Count; lost?: Count; stale?: Count; forgotten?: Count; excluded?: Count;
  suppressed?: number; known?: number; functions?: number; units?: number; undecided?: number;
  skippedUnits?: number; stages?: { name: string; in: number; out: number }[];
  omitted?: { lost?: Count; stale?: Count; forgotten?: Count };
}
export interface Report {
  schema: string;
  tool: { name: string; version?: string; engine: string; mode?: string };
  subject?: {
    command?: string[]; cwd?: string; pid?: number; started?: string; duration?: number;
    status?: { code?: number; signal?: number }; host?: string; units?: number;
  };
  modules?: { path?: string; buildId?: string; debug?: string }[];
  totals: Totals;
  leaks: Leak[];
  notes?: Note[];
  series?: Sample[];
}

// [the telling frame (-1: none), first frame behind the allocator, end after main]
export type StackView = [number, number, number] | null;

export interface PageData {
  frames: Frame[]; // each once; the report has their numbers
  views: [StackView, StackView, StackView][]; // allocation, last use, loss
  suppressions: string[];
  sources: { [file: string]: [number, string][] };
  cut?: boolean;
  live?: { every: number };
}

function text_of(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

// Puts the frames where the report has their numbers.
function put_frames(report: Report, frames: Frame[]): void {
  const frame = (value: Frame | undefined): Frame | undefined =>
    typeof value === "number" ? frames[value as number] : value;
  const stack = (part: { stack?: Stack } | undefined): void => {
    if (part?.stack) part.stack = part.stack.map((value) => frame(value) ?? {});
  };
  for (const leak of report.leaks) {
    stack(leak.allocation);
    stack(leak.lastUse);
    stack(leak.loss);
    leak.frees?.forEach(stack);
    if (leak.window) leak.window = leak.window.map((value) => frame(value) ?? {});
    for (const step of leak.path ?? []) step.location = frame(step.location);
    if (leak.fix) leak.fix.place = frame(leak.fix.place);
  }
}

export function assemble(report: Report, page: PageData): { report: Report; page: PageData } {
  put_frames(report, page.frames);
  return { report, page };
}

export const read_embedded = (): { report: Report; page: PageData } =>
  assemble(JSON.parse(text_of("plumb-report")), JSON.parse(text_of("plumb-page")));
