// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The session at a glance: how many threads were in which state. The lanes show what is in the window.
import {useEffect, useRef} from "preact/hooks";
import {useKnown, usePart} from "../known";
import {duration} from "../lib/format";
import type {Shown} from "../lib/link";
import {clamp, type Span, toTime} from "../lib/scale";
import type {Minimap as MinimapAnswer} from "../lib/types";
import {show} from "../store";
import {paintGround, paintWindow} from "../timeline/minimap";
import type {Plane} from "../timeline/plane";
import {useEvent} from "../ui/hooks";
import {Button} from "../ui/parts";
import type {Stage} from "./stage";

interface Props {
  stage: Stage<Plane>;
  shown: Shown;
  threads?: string | undefined;
  onPicture?: () => void;
}

export function Minimap({stage: {plane, view}, shown, threads, onPicture}: Props) {
  const canvas = usePainted(view, shown, threads);
  const drag = useRef<{x: number; view: Span} | null>(null);
  const limits = () => plane.current!.limits;
  const timeAt = (x: number) => toTime(limits(), canvas.current!.clientWidth, x);
  const move = (e: PointerEvent) => {
    if (!drag.current || !plane.current) return;
    const by = timeAt(e.offsetX) - timeAt(drag.current.x);
    plane.current.setView(clamp({from: drag.current.view.from + by, to: drag.current.view.to + by}, limits()));
  };
  const down = (e: PointerEvent) => {
    if (!plane.current) return;
    canvas.current!.setPointerCapture(e.pointerId);
    show({follow: false});
    const time = timeAt(e.offsetX);
    const {from, to} = plane.current.view;
    // A press outside the window moves it there first.
    if (time < from || time > to) {
      plane.current.setView(clamp({from: time - (to - from) / 2, to: time + (to - from) / 2}, limits()));
    }
    drag.current = {x: e.offsetX, view: plane.current.view};
  };
  const zoom = (x: number, factor: number) => {
    show({follow: false});
    plane.current?.zoomAt(x, factor);
  };
  const zoomMiddle = (factor: number) => zoom((plane.current?.width ?? 0) / 2, factor);
  const wheel = useEvent((e: WheelEvent) => {
    e.preventDefault();
    if (plane.current) zoom(plane.current.x(timeAt(e.offsetX)), Math.exp(Math.max(-1, Math.min(1, e.deltaY / 400))));
  });
  useEffect(() => {
    const element = canvas.current!;
    element.addEventListener("wheel", wheel, {passive: false});
    return () => element.removeEventListener("wheel", wheel);
  }, [canvas]);
  return (
    <div class="minimap">
      <div class="zoom">
        <Button icon="minus" label="Zoom out (S)" onClick={() => zoomMiddle(1.6)} />
        <Button icon="plus" label="Zoom in (W)" onClick={() => zoomMiddle(1 / 1.6)} />
        <Button icon="fit" label="Show the whole session (0)" onClick={() => plane.current?.setView(limits())} />
        {onPicture && <Button icon="picture" label="Save as image" onClick={onPicture} />}
        <span class="hint">{duration(view.to - view.from)}</span>
      </div>
      <canvas
        ref={canvas}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={() => {
          drag.current = null;
        }}
        title="Threads by state over the whole session. Drag the window, or zoom with the wheel"
        aria-hidden="true"
      />
    </div>
  );
}

/** Paints the session when it changes, and the window on each frame. */
function usePainted(view: Span, {range, hidden}: Shown, threads: string | undefined) {
  const {session} = useKnown();
  const canvas = useRef<HTMLCanvasElement>(null);
  const ground = useRef<HTMLCanvasElement | null>(null);
  const {data} = usePart<MinimapAnswer>("minimap", {width: 600, threads});
  const window = useEvent((view: Span, range: Span | null) => {
    // The size also changes when the canvas leaves the page.
    if (ground.current && canvas.current) paintWindow(canvas.current, ground.current, data, view, range);
  });
  const now = useEvent(() => window(view, range));
  const gaps = session?.gaps;
  useEffect(() => {
    const element = canvas.current!;
    const paint = () => {
      ground.current = paintGround(element, data, hidden, gaps ?? []);
      now();
    };
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(element);
    globalThis.addEventListener("weft-theme", paint);
    return () => {
      observer.disconnect();
      globalThis.removeEventListener("weft-theme", paint);
    };
  }, [data, hidden, gaps]);
  useEffect(() => window(view, range), [view, range]);
  return canvas;
}
