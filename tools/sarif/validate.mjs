// Validates SARIF files in two ways that miss different things: against the
// JSON schema of SARIF 2.1.0 (enumerations and formats included, which the
// multitool passes over), and by the rules of the multitool (multitool.xml).
//
//   node validate.mjs MODULES_DIR SCRATCH_DIR FILE...
//   node validate.mjs MODULES_DIR SCRATCH_DIR --self-test
//
// Exit status 0 when no file has an error or a warning, else 1. The self-test
// wants the files of invalid/ refused, each for the rule in its name.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, scratch, ...files] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const load = createRequire(join(modules, "package.json"));
const { default: Ajv } = load("ajv/dist/2020.js");
const { default: addFormats } = load("ajv-formats");
const multitoolDir = join(modules, "node_modules/@microsoft/sarif-multitool-linux");

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
}

// The schema uses "format" and other annotations freely: unknown ones are no
// fault of the file.
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const matchesSchema = ajv.compile(readJson(join(multitoolDir, "sarif-2.1.0.json")));

function schemaProblems(log) {
  if (matchesSchema(log)) return [];
  return matchesSchema.errors.map(
    (error) => `schema: ${error.instancePath}: ${error.message} ${JSON.stringify(error.params)}`,
  );
}

function multitoolProblems(file) {
  const output = join(scratch, `${basename(file)}.validation`);
  const run = spawnSync(
    join(multitoolDir, "Sarif.Multitool"),
    ["validate", file, "--config", join(here, "multitool.xml"), "--rule-kind", "Sarif;Ghas",
      "--level", "Error;Warning", "--output", output, "--log", "ForceOverwrite"],
    {
      encoding: "utf8",
      maxBuffer: 1 << 28,
      env: {
        ...process.env,
        DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: "1",
        DOTNET_BUNDLE_EXTRACT_BASE_DIR: join(scratch, "dotnet"),
      },
    },
  );
  if (run.error) return [`multitool: ${run.error.message}`];
  if (run.status !== 0) {
    // It fails to print some of its own messages, those of GH1001 for one.
    const said = `${run.stdout}\n${run.stderr}`.split("\n").filter((line) => / error /.test(line));
    return [`multitool: status ${run.status}`, ...said];
  }
  const [result] = readJson(output).runs;
  // Its status is 0 whatever it found; the levels asked for are all we count.
  const problems = (result.results ?? []).map((found) => {
    const place = found.locations?.[0]?.physicalLocation?.region;
    const rule = result.tool.driver.rules[found.ruleIndex];
    const format = found.message.text ?? rule.messageStrings[found.message.id].text;
    const text = format.replace(/\{(\d+)\}/g, (_, n) => found.message.arguments?.[n] ?? "");
    return `${found.level ?? "warning"} ${found.ruleId}: line ${place?.startLine}: ${text}`;
  });
  const scanned = result.invocations?.every((invocation) => invocation.executionSuccessful);
  return scanned ? problems : [...problems, "multitool: the analysis did not finish"];
}

function problemsOf(file) {
  try {
    return [...schemaProblems(readJson(file)), ...multitoolProblems(file)];
  } catch (error) {
    return [`unreadable: ${error.message}`];
  }
}

function validate(file) {
  const problems = problemsOf(file);
  console.log(`${problems.length === 0 ? "valid  " : "INVALID"} ${file}`);
  for (const problem of problems) console.log(`  ${problem}`);
  return problems.length === 0;
}

function isRefused(file) {
  const rule = basename(file, ".sarif");
  const refused = problemsOf(file).some((problem) => problem.includes(`${rule}:`));
  console.log(`${refused ? "refused" : "NOT REFUSED"} ${file}`);
  return refused;
}

mkdirSync(scratch, { recursive: true });
const selfTest = files[0] === "--self-test";
const invalid = join(here, "invalid");
const checked = selfTest
  ? readdirSync(invalid).map((name) => isRefused(join(invalid, name)))
  : files.map(validate);
const good = checked.filter(Boolean).length;
console.log(`${good} of ${checked.length} SARIF files are ${selfTest ? "refused" : "valid"}`);
rmSync(scratch, { recursive: true });
process.exit(good === checked.length && good > 0 ? 0 : 1);
