// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The flame graph of waits for locks: which code waited, and what the holders did meanwhile.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {type Answer, type Parameters, save} from "../api";
import {goTo, scope, usePart} from "../known";
import {describe, type Frame, findFrame, type Graph, graphOf, lockParameters, pathOf, step} from "../lib/flame";
import {count, duration, many, px} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Flame} from "../lib/types";
import {show} from "../store";
import {FlamePlane} from "../timeline/flame";
import {useEvent, useKeys} from "../ui/hooks";
import {Button, Empty, Problem} from "../ui/parts";
import {baselineParameters, CompareSentence, CompareTable} from "./Compare";
import {FlameTools, textFits} from "./FlameTools";

interface Hover {
  frame: Frame;
  x: number;
  y: number;
}

export function FlameView({shown}: {shown: Shown}) {
  const {all, answer} = useFlame(shown);
  const {data} = answer;
  const graph = useMemo(
    () => data && graphOf(data, shown.before ? shown.wide : "now"),
    [data, shown.before, shown.wide],
  );
  const empty = graph !== null && graph.total === 0 && !answer.loading;
  return (
    <div class="flame-view">
      <FlameTools shown={shown} all={all.data} graph={graph} />
      <Problem text={answer.error} />
      {shown.before && <CompareSentence shown={shown} />}
      {graph && data && <Picture shown={shown} flame={data} graph={graph} empty={empty} />}
      {!graph && !answer.error && <Empty title="Loading …" />}
      {shown.before && <CompareTable shown={shown} />}
    </div>
  );
}

/** The graph of all locks, and of the chosen one, which has smaller frames. */
function useFlame(shown: Shown): {all: Answer<Flame>; answer: Answer<Flame>} {
  const part: Parameters = {...scope(shown), ...baselineParameters(shown)};
  const all = usePart<Flame>("flame", {...part, width: 2000});
  const lock = lockParameters(shown.flame);
  const one = usePart<Flame>("flame", shown.flame ? {...part, ...lock, width: 4000, limit: 4000} : null);
  return {all, answer: shown.flame && (one.data || one.error) ? one : all};
}

interface PictureProps {
  shown: Shown;
  flame: Flame;
  graph: Graph;
  empty: boolean;
}

function Picture({shown, flame, graph, empty}: PictureProps) {
  const {flame: lock, frames, find, before} = shown;
  const zoomed = useMemo(() => findFrame(graph, lock, frames), [graph, lock, frames]);
  const fits = useMemo(() => (find ? textFits(find) : null), [find]);
  const [current, setCurrent] = useState<Frame | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const zoom = useZoom(shown);
  const {canvas, scroller, plane} = useFlamePlane({
    choose: (frame) => {
      setCurrent(frame);
      if (frame) zoom.into(frame);
    },
    open: showInLanes,
    hover: (frame, x, y) => setHover(frame && {frame, x, y}),
  });
  const rows = useRef<HTMLDivElement>(null);
  // Before the browser paints: the graph is in the first frame.
  useLayoutEffect(() => {
    const made = plane.current!;
    made.set(graph, zoomed, fits);
    rows.current!.style.height = px(made.whole);
    setHover(null);
    setCurrent((old) => (old ? findFrame(graph, pathOf(old).lock, pathOf(old).path) : null));
  }, [plane, graph, zoomed, fits]);
  useEffect(() => {
    plane.current!.current = current;
    plane.current!.changed();
  }, [plane, current]);
  const scroll = useEvent((_place: string) => {
    scroller.current!.scrollTop = plane.current!.scrollTo(current ?? zoomed);
  });
  // A live session has new frames all the time; it is scrolled only if another frame is chosen or there are other rows.
  const {lock: at, path} = pathOf(current ?? zoomed);
  const place = [graph.waits.length, graph.holds.length, at, ...path].join(" ");
  useEffect(() => scroll(place), [place]);
  useFlameKeys(graph, current, setCurrent, zoom);
  const described = current ?? zoomed;
  return (
    <>
      <div class="lanes flame" role="application" aria-label={label} tabIndex={0}>
        <div class="scroller" ref={scroller} onScroll={() => plane.current!.scroll(scroller.current!.scrollTop)}>
          <div ref={rows} />
        </div>
        <canvas ref={canvas} class="plane" aria-hidden="true" />
        {empty && <Nothing lock={lock} gone={before !== "" && flame.before.time > 0} />}
        {hover && <FlameTip hover={hover} graph={graph} width={plane.current?.width ?? 0} />}
      </div>
      <footer class="flame-line">
        <span class="said" aria-live="polite">
          {current && describe(current, graph).join(". ")}
        </span>
        {!empty && <FlameLine frame={described} flame={flame} graph={graph} />}
        <span class="apart" />
        <Button
          icon="picture"
          label="Save as image"
          disabled={empty}
          onClick={() => canvas.current!.toBlob((blob) => blob && save("waits.png", blob))}
        />
        <Button text="Back" label="Zoom out (Esc)" disabled={!lock} onClick={zoom.back} />
        <Button
          text="Show in lanes"
          label="Show the longest of these waits on the lanes (L, or double click)"
          disabled={!(current ?? zoomed)?.thread}
          onClick={() => showInLanes(current ?? zoomed)}
        />
      </footer>
    </>
  );
}

const label =
  "Flame graph of waits for locks. Press the arrow keys to move between frames, Enter to zoom in, Escape to zoom out, and L to show the longest wait on the lanes.";

function showInLanes(frame: Frame | null): void {
  if (frame?.thread) goTo(frame.thread, frame.seq);
}

function Nothing({lock, gone}: {lock: string; gone: boolean}) {
  return (
    <Empty title={`No thread waited for ${lock ? "this lock" : "a lock"} in this range.`}>
      {gone && <p>Threads waited before: the table has what is gone.</p>}
      {lock && <Button text="Show all locks" onClick={() => show({flame: "", frames: []})} />}
    </Empty>
  );
}

interface Zoom {
  into: (frame: Frame) => void;
  back: () => void;
}

/** Zooms into frames, and back in the same order. */
function useZoom({flame, frames, range}: Shown): Zoom {
  const trail = useRef<Pick<Shown, "flame" | "frames">[]>([]);
  return {
    into: (frame) => {
      const {lock, path} = pathOf(frame);
      if (!lock || (lock === flame && path.join("\n") === frames.join("\n"))) return;
      trail.current.push({flame, frames});
      show({flame: lock, frames: path});
    },
    back: () => {
      const last = trail.current.pop();
      if (last) show(last);
      else if (frames.length > 0) show({frames: []});
      else if (flame) show({flame: ""});
      else if (range) show({range: null});
    },
  };
}

function useFlamePlane(handlers: ConstructorParameters<typeof FlamePlane>[1]) {
  const plane = useRef<FlamePlane>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const choose = useEvent(handlers.choose);
  const open = useEvent(handlers.open);
  const hover = useEvent(handlers.hover);
  useLayoutEffect(() => {
    const made = new FlamePlane(canvas.current!, {choose, open, hover});
    const abort = new AbortController();
    canvas.current!.addEventListener(
      "wheel",
      (e) => {
        e.preventDefault();
        scroller.current!.scrollTop += e.deltaY * (e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1);
      },
      {passive: false, signal: abort.signal},
    );
    plane.current = made;
    Object.assign(window, {weftFlame: made}); // for tests and benchmarks
    return () => {
      abort.abort();
      made.destroy();
    };
  }, []);
  return {canvas, scroller, plane};
}

function useFlameKeys(graph: Graph, current: Frame | null, choose: (frame: Frame | null) => void, zoom: Zoom): void {
  useKeys(({key, target}) => {
    const isButton = (target as HTMLElement).closest("button, a, table") !== null;
    if (key === "Escape" || key === "Backspace") zoom.back();
    else if (key === "Enter" && current && !isButton) zoom.into(current);
    else if (key === "l") showInLanes(current);
    else if (key.startsWith("Arrow")) {
      const next = current ? step(graph, current, key) : (graph.locks[0] ?? null);
      if (next) choose(next);
    } else return false;
    return true;
  });
}

function FlameLine({frame, flame, graph}: {frame: Frame | null; flame: Flame; graph: Graph}) {
  if (frame) {
    const [name, time, change] = describe(frame, graph);
    return (
      <span class="what" title={name}>
        <strong>{name}</strong> <span>{time}</span> {change && <span class={`verdict ${frame.verdict}`}>{change}</span>}
      </span>
    );
  }
  const {sum, total, folded} = flame;
  return (
    <span class="what">
      Threads waited {duration(sum.time)} for {graph.compared ? (total === 1 ? "lock" : "locks") : many(total, "lock")}.
      Click a frame to zoom in.
      {folded > 0 && (
        <span class="faint">
          {" "}
          {folded === 1 ? "1 branch is" : `${count(folded)} branches are`} too small to be seen; zoom in for more.
        </span>
      )}
    </span>
  );
}

function FlameTip({hover: {frame, x, y}, graph, width}: {hover: Hover; graph: Graph; width: number}) {
  const [name, time, change] = describe(frame, graph);
  return (
    <div class="tip" style={{left: px(Math.max(0, Math.min(x + 24, width - 340))), top: px(y + 18)}}>
      <strong>{name}</strong>
      <span>{time}</span>
      {change && <span class={`verdict ${frame.verdict}`}>{change}</span>}
    </div>
  );
}
