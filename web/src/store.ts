// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What is shown, in one place; the address of the page always describes it.
import {useEffect, useState} from "preact/hooks";
import {fromHash, nothing, type Shown, toHash} from "./lib/link";

let shown = fromHash(location.hash);
const listeners = new Set<() => void>();
let timer = 0;

export function now(): Shown {
  return shown;
}

/** Changes what is shown. The back button undoes a change of tab or session. */
export function show(patch: Partial<Shown>): void {
  const before = shown;
  shown = {...shown, ...patch};
  for (const listener of listeners) listener();
  clearTimeout(timer);
  if (before.tab !== shown.tab || (before.session !== "" && before.session !== shown.session)) {
    history.replaceState(null, "", `#${toHash(before)}`);
    history.pushState(null, "", `#${toHash(shown)}`);
  } else {
    // Browsers refuse more than a few hundred changes of the address in ten seconds, and each frame of a zoom is one.
    timer = window.setTimeout(() => history.replaceState(null, "", `#${toHash(shown)}`), 150);
  }
}

/** Shows another session: preferences stay, everything else is reset. */
export function showSession(session: string, tab = shown.tab): void {
  const {hidden, arrows, path, mode, grouping, order, waits, by} = shown;
  show({...nothing, hidden, arrows, path, mode, grouping, order, waits, by, tab, session});
}

/** The address of the current view, with what it shows in words. */
export function link(was: Shown["was"]): string {
  return `${location.origin}${location.pathname}#${toHash({...shown, was})}`;
}

window.addEventListener("popstate", () => {
  shown = fromHash(location.hash);
  for (const listener of listeners) listener();
});

export function useShown(): Shown {
  const [value, setValue] = useState(shown);
  useEffect(() => {
    const listener = () => setValue(shown);
    listeners.add(listener);
    listener();
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return value;
}

export type Theme = "auto" | "light" | "dark";

/** Reads a preference. A browser may refuse storage to this site: then it lasts as long as the page. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(`weft.${key}`);
  } catch {
    return null; // not even readable
  }
}

/** Stores a preference; null removes it. */
export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`weft.${key}`);
    else localStorage.setItem(`weft.${key}`, value);
  } catch {
    // Not stored.
  }
}

let chosen = remembered("theme");

export function theme(): Theme {
  return chosen === "light" || chosen === "dark" ? chosen : "auto";
}

export function setTheme(value: Theme): void {
  chosen = value;
  remember("theme", value);
  applyTheme();
}

const dark = matchMedia("(prefers-color-scheme: dark)");

export function applyTheme(): void {
  const value = theme();
  document.documentElement.dataset.theme = value === "auto" ? (dark.matches ? "dark" : "light") : value;
  window.dispatchEvent(new Event("weft-theme"));
}

dark.addEventListener("change", applyTheme);

// Paper is white. Canvases paint after this.
window.addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
  window.dispatchEvent(new Event("weft-theme"));
});
window.addEventListener("afterprint", applyTheme);
