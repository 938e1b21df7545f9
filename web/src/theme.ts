// Light, dark, or as the system has it.

import { store, stored } from "./editor";

export type Theme = "auto" | "light" | "dark";
const KEY = "plumb-theme";
const NEXT: { [theme in Theme]: Theme } = { auto: "dark", dark: "light", light: "auto" };

export function theme(): Theme {
  const value = stored(KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

let current: Theme = theme();

export function apply_theme(): void {
  if (current === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current;
}

export function next_theme(): Theme {
  current = NEXT[current];
  store(KEY, current);
  apply_theme();
  return current;
}

export const theme_now = (): Theme => current;
