// A drawing as a file of its own: the colours and fonts that the page's style
// gives it are written into a copy.

import { h, say } from "./dom";

const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight",
  "opacity", "text-anchor", "fill-opacity", "visibility"];

export function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const target = to[i]!;
    const style = getComputedStyle(element);
    for (const name of PROPERTIES) {
      const value = style.getPropertyValue(name);
      if (value && value !== "none" || name === "fill") target.setAttribute(name, value);
    }
    for (const name of ["class", "style", "tabindex", "role"]) target.removeAttribute(name);
  });
  const box = svg.getBoundingClientRect();
  copy.setAttribute("width", String(Math.round(box.width)));
  copy.setAttribute("height", String(Math.round(box.height)));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.insertBefore(ground, copy.firstChild);
  return new XMLSerializer().serializeToString(copy);
}

export function save_file(wanted: string, type: string, text: string): void {
  const name = wanted.replace(/[^\w.-]+/g, "_").slice(0, 80); // a function's name may be anything
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.appendChild(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(url), 1000);
  say(`${name} saved`);
}

export function save_button(name: string, svg: () => SVGSVGElement | null): HTMLElement {
  return h("button", { type: "button", class: "quiet save", "aria-label": `Save ${name} as SVG`, onclick: () => {
    const drawing = svg();
    if (drawing) save_file(`${name}.svg`, "image/svg+xml", standalone(drawing));
  } }, "Save SVG");
}
