// Reports that the tests open: one that has everything a run can say, one static,
// one sampled, one hostile, one with 20,000 leaks. They are made here, since no one
// program shows it all; what plumb makes of them is the real thing.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const KEEPER = `#include <stdlib.h>
#include <string.h>

/* Names of those who have a box.
   A list: the newest first. */
struct entry {
  char *name;
  struct entry *next;
};

static struct entry *entries;
static char *last_name;

static char *copy_name(const char *name) {
  size_t length = strlen(name) + 1;
  char *copy = malloc(length);  // the caller's
  return memcpy(copy, name, length);
}

void remember(const char *name) {
  struct entry *entry = calloc(1, sizeof *entry);
  entry->name = copy_name(name);
  entry->next = entries;
  entries = entry;
}

int greet(const char *name, int times) {
  char *shown = copy_name(name);
  for (int i = 0; i < times; ++i) {
    shown[0] = 'A' + i % 26;
  }
  if (times > 3) return -1;
  last_name = shown;
  free(shown);
  return 0;
}

void forget_all(void) {
  while (entries) {
    struct entry *next = entries->next;
    free(entries);
    entries = next;
  }
}
`;
const MAIN = `#include "keeper.h"

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) remember(argv[i]);
  for (int i = 1; i < argc; ++i) {
    if (greet(argv[i], i)) continue;
  }
  forget_all();
  return 0;
}
`;

export function make(folder) {
  const src = join(folder, "demo", "src");
  mkdirSync(src, { recursive: true });
  const cwd = join(folder, "demo");
  const keeper = join(src, "keeper.c");
  const main = join(src, "main.c");
  writeFileSync(keeper, KEEPER);
  writeFileSync(main, MAIN);
  const frame = (fn, file, line, column, functionLine) =>
    ({ function: fn, file, line, column, functionLine, module: 0, offset: 4096 + line });
  const in_main = (line) => [frame("main", main, line, 5, 3),
    { function: "__libc_start_call_main", module: 1, offset: 160201 }, { function: "_start", module: 0, offset: 4256 }];
  const zero = { blocks: 0, bytes: 0 };
  const sum = (leaks, kind) => leaks.filter((leak) => leak.kind === kind).reduce((total, leak) => ({
    blocks: total.blocks + leak.blocks + leak.indirect.blocks, bytes: total.bytes + leak.bytes + leak.indirect.bytes }), zero);
  const order = ["lost", "stale", "forgotten"];

  function report(engine, leaks, more = {}) {
    leaks.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.bytes - a.bytes);
    const totals = { freed: engine === "check" ? zero : { blocks: 1200, bytes: 98304 }, excluded: zero };
    for (const kind of order) totals[kind] = sum(leaks, kind);
    const all = [...order, "freed", "excluded"].map((name) => totals[name]);
    totals.allocated = { blocks: all.reduce((n, t) => n + t.blocks, 0), bytes: all.reduce((n, t) => n + t.bytes, 0) };
    totals.suppressed = leaks.filter((leak) => leak.suppressed).length;
    totals.known = leaks.filter((leak) => leak.known && !leak.suppressed).length;
    return {
      schema: "plumb-report/1", tool: { name: "plumb", version: "0.1.0", engine, mode: "test" },
      subject: { command: ["./demo", "Ada", "Grace"], cwd, pid: 4242, started: "2026-11-16T08:00:00Z", duration: 1.25, status: { code: 0 } },
      modules: [{ path: join(cwd, "demo"), buildId: "c0ffee01", debug: "full" },
        { path: "/usr/lib/x86_64-linux-gnu/libc.so.6", buildId: "beef02", debug: "symbols" },
        { path: "/usr/lib/libother.so.1", debug: "none" }],
      notes: [{ code: "no-debug-info", text: "libother.so.1 has no debug information", remedy: "install its -dbgsym package" }],
      ...more, totals: { ...totals, ...(more.totals ?? {}) }, leaks,
    };
  }
  const base = (id, kind, bytes, blocks) =>
    ({ id, kind, confidence: 1, resource: "memory", bytes, blocks, indirect: zero });
  const copied = [frame("copy_name", keeper, 16, 16, 14)];

  const shown = {
    ...base("a1a1a1a1a1a1a1a1", "lost", 18432, 36), sizes: { min: 128, max: 4096 },
    allocation: { stack: [...copied, frame("greet", keeper, 28, 17, 27), ...in_main(6)], api: "malloc" },
    lastUse: { stack: [frame("greet", keeper, 30, 14, 27), ...in_main(6)], what: "access" },
    loss: { cause: "scope-end", stack: [frame("greet", keeper, 32, 18, 27), ...in_main(6)],
      holder: { name: "shown", type: "char *", storage: "local" } },
    window: [frame("greet", keeper, 30, 14, 27), frame("greet", keeper, 32, 18, 27)],
    frees: [{ stack: [frame("greet", keeper, 34, 3, 27), ...in_main(6)], blocks: 3 }],
    fix: { place: frame("greet", keeper, 32, 18, 27), text: "call free(shown) before the return" },
  };
  const names = {
    ...base("b2b2b2b2b2b2b2b2", "lost", 640, 40), indirect: { blocks: 2, bytes: 48 },
    allocation: { stack: [...copied, frame("remember", keeper, 22, 17, 20), ...in_main(4)], api: "malloc" },
    lastUse: { stack: [frame("remember", keeper, 22, 15, 20), ...in_main(4)], what: "copy" },
    loss: { cause: "holder-freed", stack: [frame("forget_all", keeper, 42, 5, 39), ...in_main(8)],
      holder: { name: "entries->name", type: "char *", storage: "heap" } },
    window: [frame("remember", keeper, 22, 15, 20), frame("forget_all", keeper, 42, 5, 39)],
  };
  const other = {
    ...base("c3c3c3c3c3c3c3c3", "lost", 96, 2),
    allocation: { stack: [{ function: "other_open", module: 2, offset: 70000 }, ...in_main(4)], api: "calloc" },
  };
  const forgotten = {
    ...base("d4d4d4d4d4d4d4d4", "forgotten", 4096, 1),
    allocation: { stack: [frame("remember", keeper, 21, 25, 20), ...in_main(4)], api: "calloc" },
    holders: [{ name: "last_name", type: "char *", storage: "global", chain: ["last_name", "->next"] }],
  };
  const suppressed = {
    ...base("e5e5e5e5e5e5e5e5", "lost", 512, 4), suppressed: { by: "plumb.supp.toml:3", reason: "freed by the next release" },
    allocation: { stack: [...copied, ...in_main(4)], api: "malloc" },
    loss: { cause: "overwritten", stack: [frame("greet", keeper, 33, 13, 27), ...in_main(6)] },
  };
  const known = {
    ...base("f6f6f6f6f6f6f6f6", "lost", 256, 1), known: true,
    allocation: { stack: [...copied, ...in_main(4)], api: "malloc" },
    loss: { cause: "overwritten", stack: [frame("remember", keeper, 24, 11, 20), ...in_main(4)] },
  };
  const run = report("run", [shown, names, other, forgotten, suppressed, known]);

  const step = (line, column, event, text, more = {}) =>
    ({ location: { function: "greet", file: keeper, line, column, functionLine: 27 }, event, text, ...more });
  const checked = report("check", [{
    ...base("1212121212121212", "lost", 0, 0), confidence: 0.7, when: "error-path",
    allocation: { stack: [copied[0], frame("greet", keeper, 28, 17, 27)], api: "malloc" },
    loss: { cause: "scope-end", stack: [frame("greet", keeper, 32, 18, 27)], holder: { name: "shown", storage: "local" } },
    path: [
      step(28, 17, "allocate", "copy_name allocates", { call: "copy_name" }),
      step(29, 19, "branch", "`i < times` does not hold", { branch: "not taken", condition: "i < times" }),
      step(32, 7, "branch", "`times > 3` holds", { branch: "taken", condition: "times > 3" }),
      step(32, 18, "lose", "nothing refers to the block any more"),
    ],
    summaries: [{
      function: "copy_name", text: "returns a new block",
      nodes: [{ id: "ret", label: "result" }, { id: "new", label: "block", state: "allocated" }, { id: "arg0", label: "name" },
        { id: "old", label: "*name" }],
      edges: [{ from: "ret", to: "new", label: "*" }, { from: "arg0", to: "old", label: "*", before: true }],
    }, {
      function: "release", text: "frees what it is given",
      nodes: [{ id: "p", label: "p" }, { id: "b", label: "*p", state: "freed" }], edges: [{ from: "p", to: "b", label: "*", before: true }, { from: "b", to: "b", label: ".next", before: true }],
    }],
  }], { totals: { functions: 5, units: 2, undecided: 1, skippedUnits: 0, stages: [{ name: "summaries", in: 4, out: 1 }] } });

  const series = Array.from({ length: 240 }, (_, i) => ({
    time: i * 2.5, heapBytes: 4e6 + i * 90_000 + Math.round(6e5 * Math.sin(i / 9)), liveBlocks: 900 + i * 31,
    staleBytes: i < 60 ? 0 : (i - 60) * 80_000 }));
  const stale = report("watch", [{
    ...base("7777777777777777", "stale", 14_400_000, 90_000), confidence: 0.99,
    allocation: { stack: [frame("remember", keeper, 21, 25, 20), ...in_main(4)], api: "calloc" },
    holders: [{ name: "entries", storage: "global", chain: ["entries", "->next"] }],
    age: { unit: "cpu-seconds", verdict: "leak", samples: 474, bytesLow: 13e6, bytesHigh: 15.5e6, first: 0.5, last: 599, active: 1.2,
      idle: 88.2, drag: 1.27e9, growth: 1.79, histogram: [2, 5, 9, 30, 80, 160, 120, 68], missedChance: 2.1e-7 },
  }], { series });

  const evil = "</script><img src=x onerror=\"window.pwned=1\"><svg onload=window.pwned=1>'\"&lt;${alert(1)}";
  const evil_file = join(src, "'><script>window.pwned=1<", "script>.c");
  mkdirSync(join(src, "'><script>window.pwned=1<"), { recursive: true });
  writeFileSync(evil_file, `int a; // ${evil}\n<!-- ${evil}\n${evil}\n]]>\n`);
  const hostile_frame = { function: evil, linkage: evil, file: evil_file, line: 3, column: 2, module: 0, offset: 7 };
  const hostile = report("run", [{
    ...base("6666666666666666", "lost", 10, 1), resource: evil, allocation: { stack: [hostile_frame, ...in_main(4)], api: evil },
    loss: { cause: "overwritten", stack: [hostile_frame, ...in_main(4)], holder: { name: evil, type: evil, storage: evil } },
    lastUse: { stack: [hostile_frame], what: "access" }, window: [hostile_frame], frees: [{ stack: [hostile_frame], blocks: 2 }],
    holders: [{ name: evil, chain: [evil, "javascript:window.pwned=1"] }], fix: { place: hostile_frame, text: evil },
    path: [{ location: hostile_frame, event: evil, text: evil, condition: evil, branch: "taken" }],
    summaries: [{ function: evil, text: evil, nodes: [{ id: evil, label: evil, state: "allocated" }], edges: [{ from: evil, to: evil, label: evil }] }],
    suppressed: { by: evil, reason: evil },
  }, { ...base("6666666666666667", "lost", 11, 1), allocation: { stack: [{ function: "__proto__", file: "__proto__", line: 1 }], api: "constructor" } }],
  { notes: [{ code: "x", text: evil, remedy: evil }] });
  hostile.subject.command = [evil, "javascript:window.pwned=1"];
  hostile.modules[0].path = `/tmp/${evil}`;

  const many = (count) => {
    let seed = 1;
    const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    const some = () => {
      const n = random(5000);
      return { function: `component_${n % 97}_handle_${n}`, file: keeper, line: 1 + (n % 46), column: 3, module: 0, offset: 4096 + n };
    };
    const stack = () => [some(), some(), some(), some(), some(), ...in_main(4 + random(3))];
    return report("run", Array.from({ length: count }, (_, i) => ({
      ...base(i.toString(16).padStart(16, "0"), i % 5 === 4 ? "forgotten" : "lost", 1 + random(65536), 1 + random(9)),
      allocation: { stack: stack(), api: "malloc" },
      ...(i % 5 === 4 ? {} : { loss: { cause: "overwritten", stack: stack(), holder: { name: `table->entry_${i % 61}`, storage: "heap" } },
        lastUse: { stack: stack(), what: "access" } }),
    })));
  };
  const all = { run, check: checked, watch: stale, hostile, large: many(20_000), hundred: many(100),
    empty: report("run", [], { notes: [] }) };
  for (const [name, value] of Object.entries(all)) writeFileSync(join(folder, `${name}.json`), JSON.stringify(value));
  return Object.keys(all);
}
