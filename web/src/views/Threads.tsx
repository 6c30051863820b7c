// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The thread visualizer: names at the left, lanes at the right, below what is known of the chosen interval.
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {address, ask, save, useAnswer} from "../api";
import {useKnown} from "../known";
import {count, duration, instant, percent, px} from "../lib/format";
import {ids} from "../lib/lanes";
import type {Shown} from "../lib/link";
import {filtered, isDeadlocked, noFilter, type Row, rows as rowsOf} from "../lib/rows";
import {around, type Span} from "../lib/scale";
import {sorted} from "../lib/table";
import type {Arrows, Interval, Path} from "../lib/types";
import type {Kind} from "../lib/words";
import {show} from "../store";
import {label, rulerHeight} from "../timeline/draw";
import {keys} from "../timeline/keys";
import {type Hit, ThreadsPlane} from "../timeline/threads";
import {Icon} from "../ui/Icon";
import {useKeys} from "../ui/keys";
import {Empty, Problem} from "../ui/parts";
import {Detail} from "./Detail";
import {Minimap} from "./Minimap";
import {PathProblem} from "./Path";
import {Toolbar} from "./Toolbar";
import {useLinkedView} from "./view";

const gutterWidth = 248;

export function ThreadsView({shown}: {shown: Shown}) {
  const {session, threads, allThreads, byId, info, version} = useKnown();
  const folded = useMemo(() => new Set(shown.folded), [shown.folded]);
  const [view, setView] = useState<Span>({from: 0, to: 1});
  const [problem, setProblem] = useState<string | null>(null);
  const [hover, setHover] = useState<{hit: Hit; x: number; y: number} | null>(null);
  const [said, setSaid] = useState("");
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const plane = useRef<ThreadsPlane | null>(null);
  const [size, setSize] = useState({top: 0, height: 400});
  const begun = useRef(false);

  const listed = useMemo(
    () => sorted(filtered(threads, shown.filter), (thread) => thread.name, "asc"),
    [threads, shown.filter],
  );
  const rows = useMemo(() => rowsOf(listed, shown.grouping, folded), [listed, shown.grouping, folded]);
  const last = rows[rows.length - 1];
  const full = last ? last.top + last.height : 0;

  const path = usePath(shown);
  const arrows = useArrows(shown, view, listed.length < threads.length ? listed.map(({id}) => id) : null);
  const chosen = useAnswer<Interval>(
    session && shown.thread && shown.seq
      ? address(`sessions/${session.id}/interval`, {thread: shown.thread, seq: shown.seq})
      : null,
    session?.live ? version : 0,
  );

  // The canvas is made once; everything else is told to it.
  const latest = useRef({rows, byId, shown, session});
  latest.current = {rows, byId, shown, session};
  const choosing = useRef<AbortController | null>(null);
  const choose = async (hit: Hit) => {
    const {session} = latest.current;
    if (!session) return;
    choosing.current?.abort(); // the last click counts
    choosing.current = new AbortController();
    const {signal} = choosing.current;
    const url = address(`sessions/${session.id}/interval`, {thread: hit.thread, at: hit.time});
    try {
      const {seq} = await ask<Interval>(url, {signal});
      setProblem(null);
      show({thread: hit.thread, seq});
    } catch (error) {
      if (!signal.aborted) setProblem((error as Error).message);
    }
  };
  useEffect(() => {
    const made = new ThreadsPlane(
      canvas.current!,
      {
        view: (view) => setView(view),
        range: (range) => show({range}),
        click: (x, y) => {
          const hit = made.hit(x, y);
          if (hit) void choose(hit);
          else show({thread: 0, seq: 0});
        },
        double: (x, y) => {
          const hit = made.hit(x, y);
          if (hit) userView(made, around({from: hit.from, to: hit.to}, made.limits));
        },
        hover: (x, y, inside) => {
          const hit = inside ? made.hit(x, y) : null;
          setHover(hit ? {hit, x, y} : null);
        },
        scroll: (by) => {
          const box = scroller.current!;
          box.scrollTop += by;
          return box.scrollHeight > box.clientHeight;
        },
      },
      setProblem,
    );
    plane.current = made;
    Object.assign(window, {weftPlane: made});
    return () => made.destroy();
  }, []);

  useEffect(() => {
    const made = plane.current!;
    if (!session) return;
    const first = made.cache.session !== session.id;
    const old = made.limits;
    const following = shown.follow && session.live;
    made.limits = {from: session.from, to: Math.max(session.from + 1, session.to)};
    made.cache.follow(session.id, version, session.to);
    made.gaps = session.gaps;
    if (first) made.setView(shown.view ?? made.limits);
    else if (following && old.to !== session.to) {
      const whole = made.view.from <= old.from && made.view.to >= old.to;
      const length = made.view.to - made.view.from;
      made.setView(whole ? made.limits : {from: session.to - length, to: session.to});
    } else made.setView(made.view);
  }, [session?.id, session?.from, session?.to, version]);
  useLinkedView(plane, view, shown, () => plane.current?.cache.session === session?.id);

  useEffect(() => plane.current!.setRows(rows), [rows]);
  useEffect(() => plane.current!.setHidden(shown.hidden), [shown.hidden]);
  useEffect(() => {
    plane.current!.setArrows(arrows.data?.arrows ?? [], (info?.interactions ?? []) as Kind[]);
  }, [arrows.data, info]);
  useEffect(() => {
    const made = plane.current!;
    made.range = shown.range;
    made.path = shown.path ? path.data : null;
    made.chosen = shown.seq ? chosen.data : null;
    made.chosenThread = shown.thread;
    made.changed();
  }, [shown.range, shown.path, path.data, shown.thread, shown.seq, chosen.data]);
  // A chosen interval comes into sight, also when a table led to it.
  useEffect(() => {
    const made = plane.current!;
    const interval = chosen.data;
    if (!interval || interval.seq !== shown.seq || made.limits.to <= 1) return;
    setSaid(
      `${interval.thread.name}: ${interval.title}, ${duration(interval.to - interval.from)}, from ${instant(interval.from)}`,
    );
    if (interval.to <= made.view.from || interval.from >= made.view.to) userView(made, around(interval, made.limits));
    reveal(made, scroller.current!, interval.thread.id);
  }, [chosen.data]);

  useEffect(() => {
    const box = scroller.current!;
    let timer = 0;
    const update = () => {
      setSize({top: box.scrollTop, height: box.clientHeight});
      plane.current?.scrollTo(box.scrollTop);
      // The address follows once it rests.
      clearTimeout(timer);
      if (begun.current) timer = window.setTimeout(() => show({top: box.scrollTop}), 200);
    };
    box.addEventListener("scroll", update);
    const observer = new ResizeObserver(update);
    observer.observe(box);
    return () => {
      clearTimeout(timer);
      box.removeEventListener("scroll", update);
      observer.disconnect();
    };
  }, []);
  // Where a link says that one was: as soon as there are lanes to scroll.
  useLayoutEffect(() => {
    if (begun.current || rows.length === 0) return;
    begun.current = true;
    scroller.current!.scrollTop = shown.top;
  }, [rows]);

  useKeys((e) => {
    const made = plane.current;
    return !!made && keys(e, made, {rows, shown, interval: chosen.data, choose: (hit) => void choose(hit)});
  });

  // Parts that a frame of zooming does not change are not built anew for it.
  const names = useMemo(
    () =>
      rows
        .filter((row) => row.top + row.height > size.top && row.top < size.top + size.height)
        .map((row) => (
          <Name
            key={row.kind === "group" ? `g${row.name}` : row.thread.id}
            row={row}
            chosen={row.kind === "thread" && row.thread.id === shown.thread}
            folded={folded}
          />
        )),
    [rows, size, shown.thread, folded],
  );
  const toolbar = useMemo(
    () => <Toolbar shown={shown} arrows={arrows.data} path={path.data} />,
    [shown, arrows.data, path.data],
  );
  const picture = () => {
    const name = session?.service || "threads";
    plane
      .current!.picture(gutterWidth, `${name}: threads ${instant(view.from)} – ${instant(view.to)}`)
      .toBlob((blob) => {
        if (blob) save(`${name}.png`, blob);
      });
  };
  const head = hover && byId.get(hover.hit.thread);
  return (
    <div class="threads">
      {toolbar}
      <Problem text={problem ?? arrows.error} />
      <PathProblem answer={path} range={shown.range} />
      <Minimap
        plane={plane}
        view={view}
        shown={shown}
        onPicture={picture}
        threads={listed.length < threads.length ? ids(listed.map(({id}) => id)) : undefined}
      />
      <div
        class="lanes"
        role="application"
        aria-label="Lanes of threads over time. Arrow keys walk through intervals, question mark lists all keys."
        tabIndex={0}
      >
        <div class="corner" style={{width: px(gutterWidth), height: px(rulerHeight)}}>
          <span>
            {allThreads > threads.length ? (
              <span
                title={`The ${count(threads.length)} that were blocked longest are listed; the search finds the others`}
              >
                {count(listed.length)} of {count(allThreads)} threads
              </span>
            ) : listed.length === threads.length ? (
              `${threads.length} threads`
            ) : (
              `${listed.length} of ${threads.length} threads`
            )}
          </span>
          <span class="faint">blocked</span>
        </div>
        <div class="scroller" ref={scroller}>
          <div class="gutter" style={{width: px(gutterWidth), height: px(full)}}>
            {names}
          </div>
        </div>
        <canvas ref={canvas} class="plane" style={{left: px(gutterWidth)}} aria-hidden="true" />
        {session?.threads === 0 && (
          <Empty title="No thread was seen in this session">
            <p>{session.live ? "Threads appear as soon as one of them waits, starts or ends." : "It ended before."}</p>
          </Empty>
        )}
        {rows.length === 0 && threads.length > 0 && (
          <Empty title="The filter lets no thread through">
            <button type="button" class="button" onClick={() => show({filter: noFilter})}>
              Show all threads
            </button>
          </Empty>
        )}
        {hover && head && (
          <Tip hit={hover.hit} name={head.name} x={hover.x + gutterWidth} y={hover.y} plane={plane.current!} />
        )}
      </div>
      <div class="said" aria-live="polite">
        {said}
      </div>
      {shown.thread > 0 && shown.seq > 0 && <Detail interval={chosen.data} error={chosen.error} />}
    </div>
  );
}

/** A change of the view by hand stops following. */
export function userView(plane: ThreadsPlane, view: Span): void {
  show({follow: false});
  plane.setView(view);
}

function reveal(plane: ThreadsPlane, box: HTMLElement, thread: number): void {
  const place = plane.place(thread);
  if (!place) return;
  if (place.y < box.scrollTop || place.y + place.height > box.scrollTop + box.clientHeight) {
    box.scrollTop = place.y - box.clientHeight / 2;
  }
}

function usePath(shown: Shown) {
  const {session, version} = useKnown();
  const url =
    session && shown.path
      ? address(`sessions/${session.id}/path`, {
          from: shown.range?.from,
          to: shown.range?.to,
          thread: shown.pathThread || undefined,
          mode: shown.mode,
        })
      : null;
  return useAnswer<Path>(url, session?.live ? version : 0);
}

/** The arrows of what is in sight, asked for once the view rests. */
function useArrows(shown: Shown, view: Span, threads: number[] | null) {
  const {session, version} = useKnown();
  const [rested, setRested] = useState<Span>(view);
  useEffect(() => {
    const timer = setTimeout(() => setRested(view), 120);
    return () => clearTimeout(timer);
  }, [view]);
  const from = Math.max(0, Math.floor(rested.from));
  const to = Math.ceil(rested.to);
  const url =
    session && shown.arrows.length > 0 && to > 1 && threads?.length !== 0
      ? address(`sessions/${session.id}/interactions`, {
          from,
          to: Math.max(to, from + 1),
          kinds: shown.arrows.join(","),
          threads: threads ? ids(threads) : undefined,
          limit: 600,
        })
      : null;
  return useAnswer<Arrows>(url, session?.live && shown.follow ? version : 0);
}

interface NameProps {
  row: Row;
  chosen: boolean;
  folded: ReadonlySet<string>;
}

function Name({row, chosen, folded}: NameProps) {
  const style = {top: px(row.top), height: px(row.height)};
  if (row.kind === "group") {
    const turn = () => {
      const next = new Set(folded);
      if (!next.delete(row.name)) next.add(row.name);
      show({folded: [...next]});
    };
    return (
      <button type="button" class="name head" style={style} aria-expanded={!row.folded} onClick={turn}>
        <Icon name={row.folded ? "right" : "down"} />
        <span class="text">{row.name}</span>
        <span class="faint">{row.members.length}</span>
      </button>
    );
  }
  const {thread} = row;
  const stuck = isDeadlocked(thread);
  const share = thread.time > 0 ? thread.blocked.time / thread.time : 0;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={`name ${chosen ? "chosen" : ""} ${thread.dead ? "dead" : ""} ${stuck ? "stuck" : ""}`}
      style={style}
      title={`${thread.name}\nid ${thread.id}, group ${thread.group || "unknown"}${thread.daemon ? ", daemon" : ""}${thread.virtual ? ", virtual" : ""}${thread.dead ? ", has ended" : ""}\nblocked ${duration(thread.blocked.time)} in ${thread.blocked.count}, waited ${duration(thread.waited.time)} in ${thread.waited.count}`}
      onClick={() => show({thread: thread.id, seq: 0})}
    >
      {stuck && <Icon name="warn" />}
      <span class="text">{thread.name}</span>
      <span class="faint">{thread.virtual ? "virtual" : thread.daemon ? "daemon" : ""}</span>
      <span class={share >= 0.0005 ? "hot" : "faint"}>{share >= 0.0005 ? percent(share) : ""}</span>
    </button>
  );
}

function Tip({hit, name, x, y, plane}: {hit: Hit; name: string; x: number; y: number; plane: ThreadsPlane}) {
  const mixed = hit.rest !== 15;
  const right = x > plane.width * 0.7;
  return (
    <div
      class="tip"
      style={
        right ? {right: px(plane.width + gutterWidth - x + 14), top: px(y + 16)} : {left: px(x + 14), top: px(y + 16)}
      }
    >
      <strong>{name}</strong>
      <span>
        {mixed
          ? `several: ${label(hit.state, "")} ${percent(hit.share)}, ${label(hit.rest, "")} …`
          : `${label(hit.state, "")} about ${duration(hit.to - hit.from)}`}
      </span>
      <span class="faint">{instant(hit.time, (plane.view.to - plane.view.from) / 1000)}</span>
    </div>
  );
}
