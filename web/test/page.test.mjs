// The page in headless Chromium: every part is clicked, filtered, walked and
// looked at. PLUMB is the command, PLUMB_WEB_DIR has node_modules, screenshots go to
// PLUMB_SCREENSHOTS.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { make } from "./fixtures.mjs";

const require = createRequire(join(process.env.PLUMB_WEB_DIR, "package.json"));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const SHOTS = process.env.PLUMB_SCREENSHOTS;
const folder = mkdtempSync(join(tmpdir(), "plumb-page-"));
let browser;

before(async () => {
  for (const name of make(folder)) {
    try {
      execFileSync(process.env.PLUMB, ["report", `--output=${join(folder, `${name}.html`)}`, join(folder, `${name}.json`)],
        { stdio: ["ignore", "pipe", "pipe"] });
    } catch (error) {
      if (error.status !== 1) throw new Error(`${name}: ${error.stderr}`); // 1: findings
    }
  }
  browser = await chromium.launch({ executablePath: process.env.PLUMB_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

// Opens a page; whatever goes wrong in it fails the test.
// The page draws after the address has changed.
const heading = (page, pattern) => page.locator("h1", { hasText: pattern }).waitFor();

async function open(name, hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light", ...options });
  await context.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } });
    window.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
  });
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("dialog", (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || page.problems.push(`request: ${request.url()}`));
  page.done = async () => {
    assert.deepEqual(page.problems, []);
    await context.close();
  };
  await page.goto(`file://${join(folder, `${name}.html`)}${hash}`);
  return page;
}

const texts = (page, selector) => page.locator(selector).allInnerTexts();
const row_functions = (page) => texts(page, ".rows > .row .c-fn .fn");
const hash_of = (page) => page.evaluate(() => decodeURIComponent(window.location.hash));

test("overview: totals, ranked table, what is hidden", async () => {
  const page = await open("run");
  assert.match(await page.innerText("h1"), /^19\.2 kB lost in 3 leaks$/);
  assert.deepEqual(await texts(page, ".card-kind"), ["lost", "forgotten"]);
  assert.deepEqual(await row_functions(page), ["greet", "forget_all", "main", "remember"]);
  await page.getByLabel("suppressed (1)").check();
  assert.equal((await row_functions(page)).length, 5);
  await page.getByLabel("in the baseline (1)").check();
  assert.equal((await row_functions(page)).length, 6);
  assert.match(await hash_of(page), /suppressed=1&known=1/);
  assert.match(await page.innerText(".accounting figcaption"), /allocated in .* blocks/s);
  await page.done();
});

test("overview: filters by text, kind, file and module", async () => {
  const page = await open("run");
  await page.fill("input[type=search]", "forget entries");
  assert.deepEqual(await row_functions(page), ["forget_all"]);
  assert.match(await page.innerText(".result"), /1 leak of 6/);
  await page.fill("input[type=search]", "no such thing");
  assert.match(await page.innerText(".empty"), /No leak matches/);
  await page.click(".clear");
  await page.click(".card.k-forgotten");
  assert.deepEqual(await row_functions(page), ["remember"]);
  assert.equal(await page.getAttribute(".card.k-forgotten", "aria-pressed"), "true");
  await page.click(".card.k-forgotten");
  await page.locator('.field:has(span:text-is("File")) select').selectOption("src/main.c");
  assert.deepEqual(await row_functions(page), ["main"]);
  await page.done();
});

test("overview: sorts by each column, groups by each way", async () => {
  const page = await open("run", "#suppressed=1&known=1");
  const figures = async (column) => (await texts(page, `.rows > .row .c-${column}`)).map((text) =>
    Number.parseFloat(text.replace(/,/g, "")) * (text.includes("kB") ? 1000 : 1));
  for (const column of ["bytes", "blocks"]) {
    await page.click(`.head .c-${column} button`);
    const down = await figures(column);
    assert.deepEqual(down, [...down].sort((a, b) => b - a), column);
    assert.equal(await page.getAttribute(`.head .c-${column}`, "aria-sort"), "descending");
    await page.click(`.head .c-${column} button`);
    assert.deepEqual(await figures(column), [...down].reverse(), column);
  }
  for (const column of ["kind", "fn", "where", "holder"]) {
    await page.click(`.head .c-${column} button`);
    assert.equal(await page.getAttribute(`.head .c-${column}`, "aria-sort"), "ascending");
    const up = await texts(page, `.rows > .row .c-${column}`);
    if (column === "holder") assert.deepEqual(up, [...up].sort(), column);
    if (column === "fn") assert.deepEqual(await row_functions(page), (await row_functions(page)).sort(), column);
  }
  const group = page.getByLabel("Group by");
  for (const [value, label] of [["allocation", "copy_name"], ["loss", "greet"], ["file", "src/keeper.c"], ["module", "demo"]]) {
    await group.selectOption(value);
    const groups = page.locator(".rows > .row.group");
    assert.ok((await groups.count()) >= 1, value);
    assert.ok((await groups.allInnerTexts()).some((text) => text.includes(label)), value);
  }
  await group.selectOption("allocation");
  const rows = await page.locator(".rows > .row").count();
  await page.locator(".rows > .row.group").first().click();
  assert.ok((await page.locator(".rows > .row").count()) > rows);
  assert.equal(await page.locator(".rows > .row.group").first().getAttribute("aria-expanded"), "true");
  await page.done();
});

test("a leak: life, stacks, source, window, siblings, holder", async () => {
  const page = await open("run");
  await page.locator(".rows > .row").first().click();
  assert.equal(await hash_of(page), "#leak=a1a1a1a1a1a1a1a1");
  await heading(page, /18\.4 kB in 36 blocks: last reference went out of scope/);
  assert.deepEqual(await texts(page, ".stop-title"), ["Allocated", "Last used", "Lost"]);
  assert.equal(await page.innerText(".stretch.window"), "fix window");
  assert.match(await page.innerText(".facts"), /shown char \*, local/);
  assert.deepEqual(await texts(page, ".stack h3"), ["Allocated", "Last used", "Lost"]);
  assert.match(await page.innerText(".shared summary"), /1 shared caller: main/);
  const marked = await page.locator(".sources .line.marked").evaluateAll((lines) => lines.map((line) => Number(line.dataset.line)));
  assert.deepEqual(marked, [16, 30, 32]);
  assert.match(await page.innerText(".sources .lines"), /\^ lost here \(scope-end\)/);
  assert.deepEqual(await page.locator(".sources .line.in-window[data-line]").evaluateAll((lines) => lines.map((line) => Number(line.dataset.line))), [30, 31, 32]);
  assert.ok((await page.locator(".sources .s-key").count()) > 3);
  assert.match(await page.innerText(".p-frees"), /3 blocks in greet/);
  assert.match(await page.innerText(".p-window"), /call free\(shown\) before the return/);
  // A frame of a stack shows its source.
  await page.locator(".stack.m-alloc .frame", { hasText: "greet" }).click();
  await page.waitForSelector('.sources .line.m-frame[data-line="28"]');
  await page.click(".shared summary");
  await page.locator(".shared .frame").first().click();
  await page.waitForSelector('.sources .line.m-frame[data-line="6"]');
  await page.click("#next");
  await heading(page, /640 B in 40 blocks/);
  assert.match(await page.innerText(".facts"), /48 B in 2 blocks/);
  await page.click("#back");
  await page.waitForSelector(".rows > .row");
  assert.equal((await row_functions(page)).length, 4);
  await page.done();
});

test("a leak: still held, stale, suppressed, without a place", async () => {
  let page = await open("run", "#leak=d4d4d4d4d4d4d4d4");
  assert.deepEqual(await texts(page, ".stop-title"), ["Allocated", "Still held at the end"]);
  assert.match(await page.innerText(".p-holders"), /last_name/);
  await page.goto(page.url().replace(/#.*/, "#leak=e5e5e5e5e5e5e5e5"));
  assert.match(await page.innerText(".hidden-note"), /plumb\.supp\.toml:3: freed by the next release/);
  await page.goto(page.url().replace(/#.*/, "#leak=c3c3c3c3c3c3c3c3"));
  await heading(page, /96 B in 2 blocks/);
  await page.goto(page.url().replace(/#.*/, "#leak=0000"));
  await page.locator("[role=alert]", { hasText: /no leak 0000/ }).waitFor();
  await page.done();
  page = await open("watch", "#leak=7777777777777777");
  assert.deepEqual(await texts(page, ".stop-title"), ["Allocated", "Still held, unused"]);
  assert.match(await page.innerText(".p-age"), /88\.2 s.*474/s);
  assert.equal(await page.locator(".histogram rect").count(), 8);
  await page.done();
});

test("a static finding: the path is walked, summaries are drawn", async () => {
  const page = await open("check", "#leak=1212121212121212");
  const now = () => page.innerText(".step[aria-current]");
  const marked = () => page.locator(".path-source .line.now").evaluateAll((lines) => lines.map((line) => Number(line.dataset.line)));
  assert.equal(await page.locator(".step").count(), 4);
  assert.match(await now(), /allocate/);
  assert.deepEqual(await marked(), [28]);
  await page.keyboard.press("ArrowRight");
  assert.match(await now(), /i < times\s*not taken/);
  assert.deepEqual(await marked(), [29]);
  await page.keyboard.press("ArrowDown");
  assert.match(await now(), /times > 3\s*taken/);
  assert.match(await page.innerText(".path-source .lines"), /\^ times > 3: taken/);
  await page.keyboard.press("End");
  assert.match(await now(), /lose/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowUp");
  assert.deepEqual(await marked(), [29]);
  await page.locator(".step").nth(3).click();
  assert.match(await page.innerText(".position"), /step 4 of 4/);
  assert.equal(await page.locator(".summary-graph").count(), 2);
  assert.deepEqual(await page.locator(".node.s-allocated .node-state").allTextContents(), ["!"]);
  assert.deepEqual(await page.locator(".node.s-freed .node-state").allTextContents(), ["0"]);
  assert.equal(await page.locator(".edge.before").count(), 3);
  assert.notEqual(await page.locator(".edge.before").first().evaluate((edge) => getComputedStyle(edge).strokeDasharray), "none");
  await page.done();
});

async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  const svg = readFileSync(await download.path(), "utf8");
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.doesNotMatch(svg, /var\(--/);
  return svg;
}

test("flame graph: both stacks, zoom, keys, saved as SVG", async () => {
  const page = await open("run", "#view=flame");
  const labels = () => page.locator(".flame-svg g").evaluateAll((groups) => groups.map((group) => group.getAttribute("aria-label")));
  assert.match((await labels())[0], /^all: 23\.3 kB, 100%/);
  assert.ok((await labels()).some((label) => label.startsWith("copy_name: 18.4 kB")));
  const svg = await saved(page, () => page.click(".save"));
  assert.match(svg, /copy_name/);
  await page.locator(".flame-svg g", { hasText: "greet" }).first().click();
  assert.match(await page.innerText(".flame-trail"), /all › main › greet/);
  assert.match((await labels())[0], /^greet/);
  await page.keyboard.press("Escape");
  assert.match((await labels())[0], /^all/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await page.innerText(".flame-words"), /greet/);
  await page.keyboard.press("Enter");
  assert.match((await labels())[0], /^greet/);
  await page.click(".choice:has-text('Loss')");
  assert.ok((await labels()).some((label) => label.startsWith("forget_all")));
  assert.match(await page.innerText(".flame-note"), /2 leaks without such a stack/);
  await page.done();
});

test("charts over time: three lines, a reading, saved as SVG", async () => {
  const page = await open("watch", "#view=time");
  assert.deepEqual(await texts(page, ".chart h2"), ["Heap size", "Live blocks", "Stale bytes"]);
  await page.locator(".chart-svg").first().hover({ position: { x: 400, y: 60 } });
  assert.match(await page.innerText(".reading >> nth=0"), /MB at \d/);
  assert.match(await saved(page, () => page.locator(".save").nth(1).click()), /path/);
  await page.locator(".figures summary").first().click();
  assert.ok((await page.locator(".figures tbody tr").first().innerText()).length > 3);
  await page.done();
});

test("hand-off: text, suppression, link, editor", async () => {
  const page = await open("run", "#leak=a1a1a1a1a1a1a1a1");
  const copied = () => page.evaluate(() => window.copied);
  await page.click("#copy-text");
  const text = await copied();
  assert.match(text, /src\/keeper\.c:32:18: leak\[lost\]: 18\.4 kB in 36 blocks/);
  assert.match(text, /> +32 \| {3}if \(times > 3\) return -1;/);
  assert.match(text, /id a1a1a1a1a1a1a1a1/);
  await page.click("#copy-suppression");
  assert.match(await copied(), /^\[\[suppress\]\]\nname = "lost in greet"[^]*allocation = \[\n {2}"copy_name"/);
  await page.click("#copy-link");
  assert.match(await copied(), /run\.html#leak=a1a1a1a1a1a1a1a1$/);
  assert.match(await page.getAttribute("#open-editor", "href"), /^vscode:\/\/file\/.*\/src\/keeper\.c:32:18$/);
  await page.click("#editor");
  await page.locator('dialog .field:has(span:text-is("Editor")) select').selectOption("custom");
  await page.getByLabel(/Link; /).fill("javascript:alert({line})");
  await page.click("dialog .primary");
  assert.equal(await page.locator("dialog[open]").count(), 1); // refused
  await page.getByLabel(/Link; /).fill("ed://open?at={path}&line={line}");
  await page.getByLabel("Replace").fill(join(folder, "demo"));
  await page.getByLabel("by", { exact: true }).fill("/home/me");
  await page.click("dialog .primary");
  assert.equal(await page.getAttribute("#open-editor", "href"), "ed://open?at=/home/me/src/keeper.c&line=32");
  await page.reload();
  assert.equal(await page.getAttribute("#open-editor", "href"), "ed://open?at=/home/me/src/keeper.c&line=32");
  await page.done();
});

test("keys: the whole way without a mouse", async () => {
  const page = await open("run");
  await page.keyboard.press("/");
  await page.keyboard.type("greet");
  assert.deepEqual(await row_functions(page), ["greet"]);
  await page.keyboard.press("Enter"); // into the table
  await page.keyboard.press("Enter"); // the leak
  assert.match(await hash_of(page), /leak=a1a1/);
  await page.keyboard.press("c");
  assert.match(await page.evaluate(() => window.copied), /leak\[lost\]/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.getAttribute(".table", "aria-activedescendant"), "row-1");
  await page.keyboard.press("Enter");
  assert.match(await hash_of(page), /leak=b2b2/);
  await page.keyboard.press("j"); // a link: the browser follows it in its own time
  await until(async () => /leak=c3c3/.test(await page.innerText("h1").then(() => hash_of(page))));
  await until(async () => /96 B/.test(await page.innerText("h1")));
  await page.keyboard.press("2");
  await heading(page, /by stack/);
  await page.keyboard.press("4");
  await heading(page, /About/);
  await page.keyboard.press("?");
  assert.match(await page.innerText("dialog"), /walk a path/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  assert.equal(await page.locator(".table").count(), 1);
  await page.done();
});

test("about: what was analysed, what limits it, the report itself", async () => {
  const page = await open("run", "#view=about");
  assert.match(await page.innerText(".about"), /\.\/demo Ada Grace[^]*libother\.so\.1 has no debug information[^]*install its -dbgsym/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Save the report as JSON").click()]);
  assert.equal(JSON.parse(readFileSync(await download.path(), "utf8")).leaks.length, 6);
  await page.done();
});

test("dark and light, as the system or as chosen", async () => {
  const page = await open("run", "", { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.keyboard.press("t"); // dark
  assert.equal(await ground(), dark);
  await page.keyboard.press("t"); // light
  assert.notEqual(await ground(), dark);
  await page.reload();
  assert.notEqual(await ground(), dark);
  await page.done();
});

const VIEWS = [["run", "", "overview"], ["run", "#group=allocation&suppressed=1", "groups"], ["run", "#leak=a1a1a1a1a1a1a1a1", "leak"],
  ["check", "#leak=1212121212121212", "static"], ["watch", "#leak=7777777777777777", "stale"], ["watch", "#view=time", "time"],
  ["run", "#view=flame", "flame"], ["run", "#view=about", "about"], ["empty", "", "empty"]];

test("three widths, two themes: nothing sticks out, axe-core finds nothing serious", async () => {
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
  for (const [width, theme] of [[400, "light"], [900, "dark"], [1440, "light"], [1440, "dark"]]) {
    for (const [name, hash, title] of VIEWS) {
      const page = await open(name, hash, { viewport: { width, height: width === 400 ? 800 : 900 }, colorScheme: theme });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${title} at ${width}`);
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `${title}-${width}-${theme}.png`), fullPage: true });
      if (width === 1440 || (width === 400 && ["overview", "leak", "static"].includes(title))) {
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => window.axe.run(document, {
          resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(serious.map(({ id, nodes }) => `${title} ${width} ${theme}: ${id}: ${nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`).join(" | ")}`), []);
      }
      await page.done();
    }
  }
});

test("on paper: the leaks, not the controls", async () => {
  const page = await open("hundred", "", {});
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal(await page.locator(".rows > .row").count(), 100);
  assert.equal(await page.locator(".filters").isVisible(), false);
  assert.equal(await page.locator(".top nav").isVisible(), false);
  await page.done();
});

test("hostile names, paths and sources run nothing", async () => {
  for (const hash of ["", "#suppressed=1", "#leak=6666666666666666", "#leak=6666666666666667", "#view=flame&suppressed=1&by=loss", "#view=about",
    "#q=</script><img src=x onerror=window.pwned=1>", "#group=module&suppressed=1", "#leak=<img src=x onerror=window.pwned=1>"]) {
    const page = await open("hostile", hash);
    await page.waitForTimeout(30);
    assert.equal(await page.evaluate(() => window.pwned), undefined, hash);
    assert.equal(await page.locator("img, iframe, object, embed, body svg[onload]").count(), 0, hash);
    assert.equal(await page.locator("script").count(), 3, hash);
    const links = await page.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    for (const link of links) assert.match(link, /^(#|vscode:\/\/file\/)/, hash);
    await page.done();
  }
  // The policy holds whatever gets into the page.
  const page = await open("run");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.pwned = 1";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.pwned=1'>");
  });
  await page.waitForTimeout(50);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.ok(page.problems.some((problem) => problem.includes("script-src")));
  page.problems = [];
  await page.done();
});

test("20,000 leaks: opens fast, scrolls with few rows, sorts and filters", async () => {
  const size = statSync(join(folder, "large.html")).size;
  // The machine may be busy with other tests: the best of three times counts.
  let page, wall, paint = Infinity;
  for (let round = 0; round < 3 && paint > 2000; ++round) {
    await page?.done();
    const start = performance.now();
    page = await open("large");
    await page.waitForSelector(".rows > .row");
    wall = performance.now() - start;
    paint = await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(() =>
      resolve(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now())))));
  }
  const rows = () => page.locator(".rows > .row").count();
  assert.ok((await rows()) < 80);
  // Frames while it scrolls, each with another part of the table.
  const scroll = () => page.evaluate(async () => {
    const times = [];
    let last = performance.now();
    for (let i = 0; i < 60; ++i) {
      window.scrollTo(0, i * 1200);
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times.sort((a, b) => a - b);
  });
  let frames = await scroll();
  for (let round = 0; round < 2 && frames[30] > 100; ++round) frames = await scroll();
  assert.ok((await rows()) < 80);
  await page.focus(".table");
  await page.keyboard.press("End");
  assert.equal(await page.getAttribute(".table", "aria-activedescendant"), "row-19999");
  assert.ok(await page.locator("#row-19999").isVisible());
  const timed = async (what) => {
    const from = performance.now();
    await what();
    return Math.round(performance.now() - from);
  };
  const sort = await timed(() => page.click(".head .c-fn button"));
  const filter = await timed(async () => {
    await page.fill("input[type=search]", "entry_7");
    await until(async () => / of 20,000/.test(await page.innerText(".result")), 5);
  });
  const group = await timed(() => page.getByLabel("Group by").selectOption("loss"));
  console.log(`page: 20,000 leaks, ${(size / 1e6).toFixed(1)} MB: first paint ${Math.round(paint)} ms, first row ${Math.round(wall)} ms ` +
    `(bar: 2000); a frame while scrolling ${frames[30].toFixed(1)} ms median, ${frames[57].toFixed(1)} ms at 95%; ` +
    `sort ${sort} ms, filter ${filter} ms, group ${group} ms`);
  // The bar is 2 seconds on a quiet machine; tests run beside other tests.
  assert.ok(paint < 4000, `first paint after ${paint} ms`);
  assert.ok(frames[30] < 150, `median frame ${frames[30]} ms`);
  await page.done();
});

// A program that keeps what it never uses again, watched by plumb.
const LEAKY = `#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *kept[100000];
int main(void) {
  for (int i = 0; i < 100000; ++i) {
    kept[i] = malloc(4096);
    memset(kept[i], 1, 4096);
    for (volatile int n = 0; n < 100000; ++n) continue;
    if (i % 20 == 0) usleep(4000);
  }
}
`;

test("live: news without a reload, the end of the program, other hosts refused", { timeout: 120_000 }, async () => {
  writeFileSync(join(folder, "leaky.c"), LEAKY);
  execFileSync("cc", ["-g", "-o", join(folder, "leaky"), join(folder, "leaky.c")]);
  const watched = ["watch", "--sample=16k", "--epoch=50ms", `--output=${join(folder, "leaky.txt")}`, "--", join(folder, "leaky")];
  const program = spawn(process.env.PLUMB, watched, { stdio: "ignore" });
  let server;
  let again;
  try {
    const children = () => readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, "utf8").trim();
    await until(() => children() !== "");
    const pid = children().split(" ")[0];
    let said = "";
    await until(() => { // until the program answers
      if (server && server.exitCode === null) return said.includes("http://");
      server = spawn(process.env.PLUMB, ["watch", "--serve", "--interval=500ms", pid]);
      server.stderr.on("data", (text) => { said += text; });
      return false;
    }, 300);
    const url = said.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//)[0];
    const status = (address, headers = {}) => new Promise((resolve, reject) =>
      get(address, { headers }, (answer) => { answer.resume(); resolve(answer.statusCode); }).on("error", reject));
    assert.equal(await status(url), 200);
    assert.equal(await status(url, { Host: "evil.example" }), 403);
    assert.equal(await status(url, { Origin: "http://evil.example" }), 403);
    assert.equal(await status(new URL("/", url).href), 404);

    const context = await browser.newContext({ viewport: { width: 1000, height: 800 } });
    const page = await context.newPage();
    const problems = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    await page.goto(`${url}#view=time`);
    await page.evaluate(() => { window.same_page = true; });
    await page.waitForSelector(".live.live");
    await page.waitForSelector(".chart");
    const reading = await page.innerText(".reading >> nth=0");
    await until(async () => (await page.innerText(".reading >> nth=0")) !== reading);
    process.kill(Number(pid));
    await page.waitForSelector(".live.ended", { timeout: 30_000 });
    assert.equal(await page.locator(".chart").count() > 0, true);
    // Started again, it is the same page that goes on.
    again = spawn(process.env.PLUMB, watched, { stdio: "ignore" });
    await page.waitForSelector(".live.live", { timeout: 30_000 });
    const other = await page.innerText(".reading >> nth=0");
    await until(async () => (await page.innerText(".reading >> nth=0")) !== other);
    again.kill();
    await page.waitForSelector(".live.ended", { timeout: 30_000 });
    server.kill();
    await page.waitForSelector(".live.lost", { timeout: 30_000 });
    assert.equal(await page.evaluate(() => window.same_page), true);
    assert.deepEqual(problems.filter((problem) => !problem.includes("ERR_CONNECTION")), []);
    await context.close();
  } finally {
    server?.kill();
    again?.kill();
    program.kill();
  }
});

async function until(condition, every = 50) {
  for (const end = performance.now() + 30_000; performance.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, every));
  }
  throw new Error("it did not come about in 30 seconds");
}

test("sizes: the code under 400 kB, 100 leaks with sources under 2 MB", async () => {
  const html = readFileSync(join(folder, "hundred.html"), "utf8");
  const code = html.match(/<style>([^]*?)<\/style>/)[1].length + html.match(/<script>([^]*?)<\/script>/)[1].length;
  console.log(`page: code ${code} bytes (bar: 400000); 100 leaks with sources ${html.length} bytes (bar: 2000000)`);
  assert.ok(code < 400_000);
  assert.ok(html.length < 2_000_000);
  assert.ok(html.includes("copy_name(const char *name)"));
});
