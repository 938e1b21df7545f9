// Elements made from data. Text goes in as text nodes and attributes by
// setAttribute: no markup is ever parsed, so that nothing a report says can
// become an element. There are no style attributes, which the page's
// Content-Security-Policy forbids; `vars` sets custom properties by script.

export type Child = Node | string | number | null | undefined | false | Child[];
export type Attributes = { [name: string]: unknown };

const SVG = "http://www.w3.org/2000/svg";

function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

function apply(element: HTMLElement | SVGElement, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "vars") {
      for (const [key, text] of Object.entries(value as Record<string, string>)) {
        element.style.setProperty(key, text);
      }
    } else if (name.startsWith("on")) {
      if (typeof value !== "function") throw new Error(`${name} is no function`);
      element.addEventListener(name.slice(2), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  apply(element, attributes);
  append(element, children);
  return element;
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

// Said to screen readers, and shown for a moment.
let toast: HTMLElement | undefined;
let hiding = 0;
export function say(text: string): void {
  if (!toast) {
    toast = h("div", { class: "toast", role: "status", "aria-live": "polite" });
    document.body.appendChild(toast);
  }
  fill(toast, text);
  toast.classList.add("shown");
  window.clearTimeout(hiding);
  hiding = window.setTimeout(() => toast?.classList.remove("shown"), 2200);
}
