// Figures and names as people read them.

const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

export const count = (value: number): string => whole.format(Math.round(value));
export const figure = (value: number): string => short.format(value);

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

// "4,096 B", "27.2 MB": exact while it is short.
export function bytes(value: number): string {
  if (value < 10_000) return `${count(value)} B`;
  let unit = 0;
  while (value >= 1000 && unit + 1 < UNITS.length) {
    value /= 1000;
    ++unit;
  }
  return `${value.toPrecision(3)} ${UNITS[unit]}`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "<0.1%";
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;
}

export function seconds(value: number): string {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 120) return `${figure(value)} s`;
  return value < 7200 ? `${figure(value / 60)} min` : `${figure(value / 3600)} h`;
}

export const base_name = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

// "void ns::Map<std::string, int>::put(int) const" -> "ns::Map<…>::put"
export function short_function(name: string): string {
  if (name.startsWith("operator")) return name;
  let depth = 0;
  let end = name.length;
  // The parameters: the last parenthesis that opens at the outermost level.
  for (let i = 0; i < name.length; ++i) {
    const c = name[i];
    if (c === "<") ++depth;
    else if (c === ">" && name[i - 1] !== "-") depth = Math.max(0, depth - 1);
    else if (c === "(" && depth === 0 && i > 0 && !name.startsWith("(anonymous", i) &&
             !name.startsWith("(lambda", i)) {
      end = i;
      break;
    }
  }
  let text = name.slice(0, end);
  if (text.length > 40) {
    let out = "";
    depth = 0;
    for (const c of text) {
      if (c === "<" && depth++ === 0) out += "<…>";
      else if (c === ">" && depth > 0) --depth;
      else if (depth === 0) out += c;
    }
    if (depth === 0) text = out;
  }
  // A result type stands before the name only where templates are.
  const blank = text.lastIndexOf(" ");
  if (blank > 0 && end < name.length && !text.includes("operator")) text = text.slice(blank + 1);
  return text.length > 70 ? `${text.slice(0, 34)}…${text.slice(-34)}` : text;
}

const CAUSES: { [cause: string]: string } = {
  "overwritten": "last reference overwritten",
  "scope-end": "last reference went out of scope",
  "holder-freed": "freed together with its holder",
  "holder-lost": "its holder was lost",
  "unmapped": "the memory that held it was unmapped",
  "thread-end": "the thread that held it ended",
  "discarded": "the result was never taken",
  "escaped-throw": "an exception left the scope",
};
export const cause_words = (cause: string | undefined): string =>
  cause === undefined ? "" : CAUSES[cause] ?? cause;

const WHENS: { [when: string]: string } = {
  "ordinary": "on an ordinary path",
  "error-path": "on an error path",
  "throw": "when an exception is thrown",
  "main-exit": "alive until main returns",
  "oom": "when an allocation failed",
  "global": "parked where nothing frees it",
};
export const when_words = (when: string): string => WHENS[when] ?? when;
