// The two dialogs: keys, and the reader's editor.

import { h, say } from "./dom";
import { choose_editor, editor_choice, EDITORS, template_is_safe } from "./editor";

const KEYS: [string, string][] = [
  ["/", "filter by text"], ["j, k", "next, previous leak"], ["Enter", "open the leak"], ["Esc", "back"],
  ["← ↑ ↓ →", "walk a path, a flame graph, the table"], ["c", "copy the leak as text"], ["s", "copy a suppression"],
  ["l", "copy a link"], ["e", "open in the editor"], ["1 2 3 4", "leaks, flame graph, over time, about"],
  ["t", "dark, light, as the system"], ["?", "these keys"],
];

function show(title: string, ...content: Node[]): HTMLDialogElement {
  const dialog = h("dialog", { "aria-label": title, onclose: () => dialog.remove(), onclick: (event: MouseEvent) => {
    if (event.target === dialog) dialog.close();
  } }, h("div", { class: "dialog" }, h("header", {}, h("h2", {}, title),
    h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => dialog.close() }, "✕")), ...content));
  document.body.appendChild(dialog);
  dialog.showModal();
  return dialog;
}

export function show_keys(): void {
  show("Keys", h("dl", { class: "keys" }, KEYS.map(([key, words]) =>
    h("div", {}, h("dt", {}, key.split(/(?<=,) /).map((part) => [h("kbd", {}, part.replace(",", "")), " "])), h("dd", {}, words)))));
}

export function show_editor_settings(changed: () => void): void {
  const choice = editor_choice();
  const editor = h("select", {}, Object.entries(EDITORS).map(([key, { name }]) => h("option", { value: key }, name)));
  editor.value = choice.editor;
  const template = h("input", { type: "text", placeholder: "myeditor://open?file={path}&line={line}", spellcheck: "false" });
  template.value = choice.template;
  const from = h("input", { type: "text", placeholder: "/builds/project", spellcheck: "false" });
  const to = h("input", { type: "text", placeholder: "/home/me/project", spellcheck: "false" });
  from.value = choice.from;
  to.value = choice.to;
  const custom = h("label", { class: "field" }, h("span", {}, "Link; {path}, {line} and {column} are filled in"), template);
  const adapt = () => custom.toggleAttribute("hidden", editor.value !== "custom");
  editor.addEventListener("change", adapt);
  adapt();
  const form = h("form", { method: "dialog", onsubmit: (event: Event) => {
    event.preventDefault();
    if (editor.value === "custom" && !template_is_safe(template.value)) {
      say("A link begins with the scheme of an editor, such as myeditor://");
      template.focus();
      return;
    }
    choose_editor({ editor: editor.value, template: template.value, from: from.value, to: to.value });
    dialog.close();
    changed();
  } },
  h("label", { class: "field" }, h("span", {}, "Editor"), editor), custom,
  h("fieldset", {}, h("legend", {}, "The sources lie elsewhere on this machine"),
    h("label", { class: "field" }, h("span", {}, "Replace"), from), h("label", { class: "field" }, h("span", {}, "by"), to)),
  h("button", { type: "submit", class: "primary" }, "Save"));
  const dialog = show("Open in editor", form);
}
