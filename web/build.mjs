// Checks the types, bundles, and writes the hashes that the page's
// Content-Security-Policy names.
//
//   node web/build.mjs DIR OUT     DIR has node_modules
//
// The bundle is ASCII: cmake/EmbedBundle.cmake cuts it into string literals.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const LARGEST = 400_000; // bytes of the page's own code

const here = dirname(fileURLToPath(import.meta.url));
const [dir, out] = process.argv.slice(2);
const require = createRequire(join(dir, "package.json"));
const esbuild = require("esbuild");

const types = spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), "--noEmit", "-p", here],
  { stdio: "inherit" });
if (types.status !== 0) process.exit(1);

mkdirSync(out, { recursive: true });
await esbuild.build({
  entryPoints: { page: join(here, "src/main.ts") },
  outdir: out,
  bundle: true,
  minify: true,
  charset: "ascii",
  format: "iife",
  target: ["chrome100", "firefox100", "safari15.4"],
  legalComments: "none",
  logLevel: "warning",
});

let size = 0;
const hashes = ["page.js", "page.css"].map((name) => {
  // The page holds the text without the newline at its end.
  const text = readFileSync(join(out, name), "utf8").trimEnd();
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} would end its own element`);
  writeFileSync(join(out, name), text);
  size += text.length;
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
});
if (size > LARGEST) throw new Error(`the page's code has ${size} bytes, more than ${LARGEST}`);
writeFileSync(join(out, "page.csp"), hashes.join("\n") + "\n");
