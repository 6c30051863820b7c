// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks that several views share.
import {useCallback, useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import {copy} from "../api";

/** Returns a function whose identity never changes and which calls the handler of the latest render: no effect needs to depend on it. */
export function useEvent<A extends unknown[], R>(handler: (...args: A) => R): (...args: A) => R {
  const latest = useRef(handler);
  latest.current = handler;
  return useCallback((...args: A) => latest.current(...args), []);
}

/** Returns a value once it has been the same for some milliseconds. */
export function useRested<T>(value: T, milliseconds: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return rested;
}

/** The text of a field, and what to do when one is typed: it is passed on after a pause, unless another text came from elsewhere meanwhile. */
export function useTyped(text: string, pass: (text: string) => void): [string, (text: string) => void] {
  const [typed, setTyped] = useState(text);
  const timer = useRef(0);
  useLayoutEffect(() => {
    setTyped(text);
    return () => clearTimeout(timer.current);
  }, [text]);
  const type = (next: string) => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => pass(next), 250);
  };
  return [typed, type];
}

/** Copies a text; the flag is set for a moment afterwards. */
export function useCopy(): [boolean, (text: string) => Promise<void>] {
  const [copied, setCopied] = useState(false);
  const start = async (text: string) => {
    await copy(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return [copied, start];
}

/**
 * Handles the keys of a view wherever the focus is, unless the focused element (a field, a menu, a dialog) needs them. The
 * handler returns whether it used the key.
 */
export function useKeys(handle: (e: KeyboardEvent) => boolean): void {
  const latest = useEvent((e: KeyboardEvent) => {
    if (isFree(e) && handle(e)) e.preventDefault();
  });
  // Before the browser paints: the keys of a view work as soon as it is seen.
  useLayoutEffect(() => {
    window.addEventListener("keydown", latest);
    return () => window.removeEventListener("keydown", latest);
  }, []);
}

function isFree(e: KeyboardEvent): boolean {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return false;
  const target = e.target as HTMLElement;
  if (target.closest("input, select, textarea, .popup")) return false;
  const isButton = target.closest("button, a") !== null;
  if (e.key === " ") return !isButton && !target.closest("table");
  // Arrow keys scroll the focused element if it can be scrolled.
  if (!e.key.startsWith("Arrow") || target === document.body || target.matches(".lanes")) return true;
  return isButton && target.closest(".lanes, .detail") !== null;
}
