// Links that open a place in an editor. Which editor, and where the sources lie on
// the reader's machine, is kept in the browser where it lets us.

export interface EditorChoice { editor: string; template: string; from: string; to: string }

export const EDITORS: { [key: string]: { name: string; template: string } } = {
  vscode: { name: "VS Code", template: "vscode://file{path}:{line}:{column}" },
  vscodium: { name: "VSCodium", template: "vscodium://file{path}:{line}:{column}" },
  cursor: { name: "Cursor", template: "cursor://file{path}:{line}:{column}" },
  zed: { name: "Zed", template: "zed://file{path}:{line}:{column}" },
  idea: { name: "CLion, IDEA", template: "idea://open?file={path}&line={line}&column={column}" },
  sublime: { name: "Sublime Text", template: "subl://open?url=file://{path}&line={line}&column={column}" },
  emacs: { name: "Emacs", template: "emacs://open?url=file://{path}&line={line}&column={column}" },
  mvim: { name: "MacVim", template: "mvim://open?url=file://{path}&line={line}&column={column}" },
  custom: { name: "another …", template: "" },
  none: { name: "none", template: "" },
};

const KEY = "plumb-editor";
const DEFAULT: EditorChoice = { editor: "vscode", template: "", from: "", to: "" };

export function stored(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null; // pages from disk may have no storage
  }
}
export function store(key: string, value: string): void {
  try {
    window.localStorage.setItem(key, value);
  } catch {
    // Kept until the page is closed.
  }
}

let choice: EditorChoice = read();

function read(): EditorChoice {
  try {
    const value: unknown = JSON.parse(stored(KEY) ?? "{}");
    const out = { ...DEFAULT };
    for (const key of Object.keys(out) as (keyof EditorChoice)[]) {
      const part = (value as { [key: string]: unknown })[key];
      if (typeof part === "string") out[key] = part;
    }
    return out;
  } catch {
    return { ...DEFAULT };
  }
}

export const editor_choice = (): EditorChoice => ({ ...choice });
export function choose_editor(next: EditorChoice): void {
  choice = { ...next };
  store(KEY, JSON.stringify(choice));
}

// A template may name any scheme but those with which a browser runs code.
export function template_is_safe(template: string): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(template)?.[1]?.toLowerCase();
  return scheme !== undefined && !["javascript", "data", "vbscript", "blob", "file", "about"].includes(scheme);
}

export function editor_link(file: string, line?: number, column?: number): string | undefined {
  const template = choice.editor === "custom" ? choice.template
    : Object.hasOwn(EDITORS, choice.editor) ? EDITORS[choice.editor]!.template : "";
  if (!template || !template_is_safe(template)) return undefined;
  let path = file;
  if (choice.from && path.startsWith(choice.from)) path = choice.to + path.slice(choice.from.length);
  if (!path.startsWith("/")) return undefined; // an editor cannot know where it is
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return template.replaceAll("{path}", () => encoded).replaceAll("{line}", String(line ?? 1))
    .replaceAll("{column}", String(column ?? 1));
}
