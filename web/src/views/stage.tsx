// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A canvas with names next to it, and the part of time in sight, which the address of the page keeps.
import type {ComponentChildren, RefObject} from "preact";
import {useEffect, useRef, useState} from "preact/hooks";
import {save} from "../api";
import {instant, px} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Span} from "../lib/scale";
import type {Session} from "../lib/types";
import {now, show} from "../store";
import {rulerHeight} from "../timeline/draw";
import type {Events, Plane} from "../timeline/plane";
import {useEvent} from "../ui/hooks";

export interface Stage<P extends Plane> {
  plane: RefObject<P | null>;
  canvas: RefObject<HTMLCanvasElement | null>;
  scroller: RefObject<HTMLDivElement | null>;
  view: Span;
}

type Handlers<P> = Record<"click" | "double", (plane: P, x: number, y: number) => void> & {
  hover: (plane: P, x: number, y: number, inside: boolean) => void;
};

/** Makes a plane once, and destroys it with the view; it calls the handlers of the latest render. */
export function useStage<P extends Plane>(
  make: (canvas: HTMLCanvasElement, events: Events) => P,
  handlers: Handlers<P>,
): Stage<P> {
  const plane = useRef<P>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Span>({from: 0, to: 1});
  const handle = useEvent((name: keyof Handlers<P>, x: number, y: number, inside: boolean) =>
    handlers[name](plane.current!, x, y, inside),
  );
  const create = useEvent(() =>
    make(canvas.current!, {
      view: setView,
      range: (range) => show({range}),
      click: (x, y) => handle("click", x, y, true),
      double: (x, y) => handle("double", x, y, true),
      hover: (x, y, inside) => handle("hover", x, y, inside),
      scroll: (by) => {
        const box = scroller.current!;
        box.scrollTop += by;
        return box.scrollHeight > box.clientHeight;
      },
    }),
  );
  useEffect(() => {
    const made = create();
    plane.current = made;
    return () => made.destroy();
  }, []);
  return {plane, canvas, scroller, view};
}

/**
 * Keeps a canvas and the address in step. The address follows once the view rests, or when another tab is shown. It moves
 * the canvas only if something else changed it (a link, the back button, another part of the page); otherwise it would
 * undo what the user did since.
 */
export function useLinkedView({plane, view}: Stage<Plane>, shown: Shown, ready: (plane: Plane) => boolean): void {
  const written = useRef<Span | null | undefined>(undefined);
  // The view of an address, if the canvas shows another one.
  const differs = (made: Plane, start = made.limits.from, end = made.limits.to): Span | null =>
    Math.abs(start - made.view.from) > 1 || Math.abs(end - made.view.to) > 1 ? {from: start, to: end} : null;
  const read = useEvent((start: number | undefined, end: number | undefined) => {
    const made = plane.current!;
    if (!ready(made) || shown.view === written.current) return;
    const wanted = differs(made, start, end);
    if (wanted) made.setView(wanted);
  });
  const write = useEvent((rested: Span) => {
    const made = plane.current;
    if (!made || !ready(made)) return;
    const {from, to} = made.view;
    if (from !== rested.from || to !== rested.to) return; // it has moved on, and will be written later
    const whole = from <= made.limits.from && to >= made.limits.to;
    written.current = whole ? null : {from: Math.floor(from), to: Math.ceil(to)};
    show({view: written.current});
  });
  const leave = useEvent(() => {
    const made = plane.current!;
    const current = now().session === shown.session;
    if (current && differs(made, shown.view?.from, shown.view?.to)) write(made.view);
  });
  const from = shown.view?.from;
  const to = shown.view?.to;
  useEffect(() => read(from, to), [from, to]);
  useEffect(() => {
    const timer = setTimeout(() => write(view), 200);
    return () => clearTimeout(timer);
  }, [view]);
  useEffect(() => leave, []);
}

export const gutterWidth = 248;

/** Saves what is in sight as an image. */
export function savePicture(plane: Plane, session: Session | null, what: string): void {
  const {from, to} = plane.view;
  const service = session?.service || "weft";
  plane.picture(gutterWidth, `${service}: ${what} ${instant(from)} – ${instant(to)}`).toBlob((blob) => {
    if (blob) save(`${service}-${what}.png`, blob);
  });
}

interface LanesProps {
  stage: Stage<Plane>;
  label: string;
  corner: ComponentChildren;
  /** The height of all names in pixels. */
  height: number;
  names: ComponentChildren;
  onScroll?: () => void;
  children: ComponentChildren;
}

/** The frame of all lanes: names on the left, the canvas on the right. */
export function Lanes({stage, label, corner, height, names, onScroll, children}: LanesProps) {
  const width = px(gutterWidth);
  return (
    <div class="lanes" role="application" aria-label={label} tabIndex={0}>
      <div class="corner" style={{width, height: px(rulerHeight)}}>
        <span>{corner}</span>
        <span class="faint">blocked</span>
      </div>
      <div class="scroller" ref={stage.scroller} onScroll={onScroll}>
        <div class="gutter" style={{width, height: px(height)}}>
          {names}
        </div>
      </div>
      <canvas ref={stage.canvas} class="plane" style={{left: width}} aria-hidden="true" />
      {children}
    </div>
  );
}
