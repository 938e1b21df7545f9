// Colours for C and C++ source. A small scanner of our own: the libraries that do
// it well are larger than this page, and those that are small make markup out of
// text, which nothing here may do.
//
// An excerpt may begin inside a comment; it does when a comment ends in it before
// one begins.

import { h, type Child } from "./dom";

const KEYWORDS = new Set((
  "alignas alignof asm auto break case catch class co_await co_return co_yield const consteval constexpr constinit " +
  "const_cast continue decltype default delete do dynamic_cast else enum explicit export extern false final for friend " +
  "goto if inline mutable namespace new noexcept nullptr operator override private protected public register " +
  "reinterpret_cast requires restrict return sizeof static static_assert static_cast struct switch template this " +
  "thread_local throw true try typedef typeid typename union using virtual volatile while NULL _Atomic _Bool " +
  "_Generic _Noreturn _Static_assert _Thread_local").split(" "));
const TYPES = new Set((
  "bool char char8_t char16_t char32_t double float int long short signed unsigned void wchar_t size_t ssize_t " +
  "ptrdiff_t intptr_t uintptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t FILE std string " +
  "string_view vector").split(" "));
const MEMORY = new Set("malloc calloc realloc free strdup strndup aligned_alloc posix_memalign".split(" "));

const TOKEN = new RegExp([
  /\/\/.*/, /\/\*.*?(?:\*\/|$)/, // comments
  /(?:u8|[uUL])?"(?:[^"\\]|\\.)*(?:"|$)/, /(?:u8|[uUL])?'(?:[^'\\]|\\.)*(?:'|$)/,
  /\b(?:0[xX][\da-fA-F']+|0[bB][01']+|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?)[uUlLfFzZ]*\b/,
  /[A-Za-z_]\w*/,
].map((part) => part.source).join("|"), "g");

export interface ScanState { comment: boolean }

export function begins_in_comment(lines: string[]): boolean {
  for (const line of lines) {
    const end = line.indexOf("*/");
    const start = line.indexOf("/*");
    if (end >= 0 && (start < 0 || end < start)) return true;
    if (start >= 0) return false;
  }
  return false;
}

function word_class(word: string, behind: string): string {
  if (KEYWORDS.has(word)) return "s-key";
  if (MEMORY.has(word)) return "s-mem";
  if (TYPES.has(word) || /_t$/.test(word)) return "s-type";
  if (/^\s*\(/.test(behind)) return "s-fn";
  return "";
}

// One line; `state` goes on to the next.
export function coloured(line: string, state: ScanState): Child[] {
  const out: Child[] = [];
  const add = (text: string, kind: string) => out.push(kind ? h("span", { class: kind }, text) : text);
  let at = 0;
  if (state.comment) {
    const end = line.indexOf("*/");
    if (end < 0) return [h("span", { class: "s-com" }, line)];
    add(line.slice(0, end + 2), "s-com");
    at = end + 2;
    state.comment = false;
  }
  const directive = at === 0 ? /^\s*#\s*\w+/.exec(line) : null;
  if (directive) {
    add(directive[0], "s-pre");
    at = directive[0].length;
    const header = /^\s*<[^>]*>/.exec(line.slice(at));
    if (header) {
      add(header[0], "s-str");
      at += header[0].length;
    }
  }
  TOKEN.lastIndex = at;
  for (let match = TOKEN.exec(line); match; match = TOKEN.exec(line)) {
    if (match.index > at) out.push(line.slice(at, match.index));
    const text = match[0];
    at = match.index + text.length;
    if (text.startsWith("//")) add(text, "s-com");
    else if (text.startsWith("/*")) {
      add(text, "s-com");
      state.comment = text.length < 4 || !text.endsWith("*/");
    } else if (/["']$/.test(text) || /^(?:u8|[uUL])?["']/.test(text)) add(text, "s-str");
    else if (/^\d/.test(text)) add(text, "s-num");
    else add(text, word_class(text, line.slice(at)));
  }
  if (at < line.length) out.push(line.slice(at));
  return out;
}
