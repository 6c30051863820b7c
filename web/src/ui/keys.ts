// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import {useEffect, useRef} from "preact/hooks";

/**
 * Keys of a view: they work wherever the focus is, unless what has it needs them itself (a field, a menu, a dialog). The
 * handler says whether it did something.
 */
export function useKeys(handle: (e: KeyboardEvent) => boolean): void {
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (isFree(e) && latest.current(e)) e.preventDefault();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
}

function isFree(e: KeyboardEvent): boolean {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return false;
  const target = e.target as HTMLElement;
  if (target.closest("input, select, textarea, .popup")) return false;
  const isButton = target.closest("button, a") !== null;
  if (e.key === " ") return !isButton && !target.closest("table");
  // Arrows scroll what has the focus and can be scrolled.
  if (!e.key.startsWith("Arrow") || target === document.body || target.matches(".lanes")) return true;
  return isButton && target.closest(".lanes, .detail") !== null;
}
