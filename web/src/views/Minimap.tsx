// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The session at a glance: how many threads were in which state; the window on it is what the lanes show.
import type {RefObject} from "preact";
import {useEffect, useRef} from "preact/hooks";
import {address, useAnswer} from "../api";
import {useKnown} from "../known";
import {duration} from "../lib/format";
import type {Shown} from "../lib/link";
import {clamp, type Span, toPixel, toTime} from "../lib/scale";
import type {Minimap as MinimapAnswer} from "../lib/types";
import {type State, stateNumber} from "../lib/words";
import {show} from "../store";
import {palette} from "../timeline/palette";
import type {Plane} from "../timeline/plane";
import {Button} from "../ui/parts";

const order: State[] = [
  "deadlocked",
  "blocked",
  "reentering",
  "runnable",
  "suspended",
  "joining",
  "waiting",
  "parked",
  "sleeping",
  "unknown",
];

interface Props {
  plane: RefObject<Plane | null>;
  view: Span;
  shown: Shown;
  threads?: string | undefined;
  onPicture?: () => void;
}

export function Minimap({plane, view, shown, threads, onPicture}: Props) {
  const {session, version} = useKnown();
  const canvas = useRef<HTMLCanvasElement>(null);
  const url = session ? address(`sessions/${session.id}/minimap`, {width: 600, threads}) : null;
  const {data} = useAnswer<MinimapAnswer>(url, version);

  // What the session was like is painted seldom, the window on it with each frame.
  const ground = useRef<HTMLCanvasElement | null>(null);
  const latest = useRef({view, range: shown.range});
  latest.current = {view, range: shown.range};
  useEffect(() => {
    const element = canvas.current!;
    const paint = () => {
      ground.current = paintGround(element, data, shown.hidden, session?.gaps ?? []);
      paintWindow(element, ground.current, data, latest.current.view, latest.current.range);
    };
    paint();
    const observer = new ResizeObserver(paint);
    observer.observe(element);
    window.addEventListener("weft-theme", paint);
    return () => {
      observer.disconnect();
      window.removeEventListener("weft-theme", paint);
    };
  }, [data, shown.hidden, session?.gaps]);
  useEffect(() => {
    if (ground.current) paintWindow(canvas.current!, ground.current, data, view, shown.range);
  }, [view, shown.range]);

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
    let at = plane.current.view;
    const time = timeAt(e.offsetX);
    // Beside the window: it jumps there first.
    if (time < at.from || time > at.to) {
      const half = (at.to - at.from) / 2;
      at = clamp({from: time - half, to: time + half}, limits());
      plane.current.setView(at);
    }
    drag.current = {x: e.offsetX, view: at};
  };
  const wheel = (e: WheelEvent) => {
    e.preventDefault();
    if (!plane.current) return;
    show({follow: false});
    const at = plane.current;
    at.zoomAt(at.x(timeAt(e.offsetX)), Math.exp(Math.max(-1, Math.min(1, e.deltaY / 400))));
  };
  useEffect(() => {
    const element = canvas.current!;
    element.addEventListener("wheel", wheel, {passive: false});
    return () => element.removeEventListener("wheel", wheel);
  }, []);
  const zoom = (factor: number) => {
    show({follow: false});
    plane.current?.zoomAt(plane.current.width / 2, factor);
  };
  return (
    <div class="minimap">
      <div class="zoom">
        <Button icon="minus" label="Zoom out (S)" onClick={() => zoom(1.6)} />
        <Button icon="plus" label="Zoom in (W)" onClick={() => zoom(1 / 1.6)} />
        <Button icon="fit" label="All of the time (0)" onClick={() => plane.current?.setView(limits())} />
        {onPicture && <Button icon="picture" label="Save as picture" onClick={onPicture} />}
        <span class="hint">{duration(view.to - view.from)}</span>
      </div>
      <canvas
        ref={canvas}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={() => {
          drag.current = null;
        }}
        title="The whole session: threads by state. Drag the window, or zoom with the wheel"
        aria-hidden="true"
      />
    </div>
  );
}

function paintGround(
  canvas: HTMLCanvasElement,
  data: MinimapAnswer | null,
  hidden: readonly State[],
  gaps: readonly Span[],
): HTMLCanvasElement {
  const ratio = Math.min(3, devicePixelRatio || 1);
  const {clientWidth: width, clientHeight: height} = canvas;
  const ground = document.createElement("canvas");
  ground.width = Math.round(width * ratio);
  ground.height = Math.round(height * ratio);
  const ctx = ground.getContext("2d", {alpha: false})!;
  const colors = palette(ratio);
  ctx.scale(ratio, ratio);
  ctx.fillStyle = colors.get("surface-2");
  ctx.fillRect(0, 0, width, height);
  if (!data || data.steps === 0) return ground;
  const whole: Span = {from: data.from, to: data.to};
  let most = 1;
  for (let i = 0; i < data.steps; i++) {
    const all = order.reduce((sum, state) => sum + (data.time[stateNumber(state)]?.[i] ?? 0), 0);
    most = Math.max(most, all);
  }
  const scale = (height - 4) / most;
  const step = (width * data.step) / (data.to - data.from);
  const base = new Float64Array(data.steps);
  for (const state of order) {
    const times = data.time[stateNumber(state)];
    if (!times || times.length === 0 || hidden.includes(state)) continue;
    ctx.fillStyle = colors.color[stateNumber(state)]!;
    for (let i = 0; i < data.steps; i++) {
      const h = times[i]! * scale;
      if (h <= 0) continue;
      ctx.fillRect(i * step, height - base[i]! - h, step + 0.5, h);
      base[i]! += h;
    }
  }
  ctx.fillStyle = colors.get("gap");
  for (const gap of gaps) {
    const x = toPixel(whole, width, gap.from);
    ctx.fillRect(x, 0, Math.max(2, toPixel(whole, width, gap.to) - x), 4);
  }
  return ground;
}

function paintWindow(
  canvas: HTMLCanvasElement,
  ground: HTMLCanvasElement,
  data: MinimapAnswer | null,
  view: Span,
  range: Span | null,
): void {
  const ratio = Math.min(3, devicePixelRatio || 1);
  const {clientWidth: width, clientHeight: height} = canvas;
  if (ground.width === 0 || ground.height === 0) return; // it is not on the page, any more
  if (canvas.width !== ground.width) canvas.width = ground.width;
  if (canvas.height !== ground.height) canvas.height = ground.height;
  const ctx = canvas.getContext("2d", {alpha: false})!;
  const colors = palette(ratio);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.drawImage(ground, 0, 0, width, height);
  if (!data) return;
  const whole: Span = {from: data.from, to: data.to};
  const window = (span: Span, edge: string, dims: boolean) => {
    const x0 = toPixel(whole, width, span.from);
    const x1 = Math.max(x0 + 2, toPixel(whole, width, span.to));
    ctx.fillStyle = colors.get("dim");
    if (dims) {
      ctx.fillRect(0, 0, x0, height);
      ctx.fillRect(x1, 0, width - x1, height);
    }
    ctx.fillStyle = edge;
    ctx.fillRect(x0 - 1, 0, 2, height);
    ctx.fillRect(x1 - 1, 0, 2, height);
  };
  window(view, colors.get("text-2"), true);
  if (range) window(range, colors.get("accent"), false);
}
