// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What part of time is in sight, on a canvas and in the address of the page.
import {useEffect, useRef} from "preact/hooks";
import type {Shown} from "../lib/link";
import type {Span} from "../lib/scale";
import {show} from "../store";
import type {Plane} from "../timeline/plane";

/**
 * Keeps a canvas and the address in step. The address follows once the view rests; what it says moves the canvas only if
 * somebody else said it: a link, the back button, another part of the page. Else it would take back what a hand did since.
 */
export function useLinkedView(
  plane: {readonly current: Plane | null},
  view: Span,
  shown: Shown,
  ready: (plane: Plane) => boolean,
): void {
  const told = useRef<Span | null | undefined>(undefined);
  useEffect(() => {
    const made = plane.current;
    if (!made || !ready(made) || shown.view === told.current) return;
    const wanted = shown.view ?? made.limits;
    if (Math.abs(wanted.from - made.view.from) > 1 || Math.abs(wanted.to - made.view.to) > 1) made.setView(wanted);
  }, [shown.view?.from, shown.view?.to]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const made = plane.current;
      if (!made || !ready(made)) return;
      const {from, to} = made.view;
      if (from !== view.from || to !== view.to) return; // it has moved on, and that will be told
      const whole = from <= made.limits.from && to >= made.limits.to;
      told.current = whole ? null : {from: Math.floor(from), to: Math.ceil(to)};
      show({view: told.current});
    }, 200);
    return () => clearTimeout(timer);
  }, [view]);
}
