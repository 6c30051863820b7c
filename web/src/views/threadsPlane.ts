// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the canvas of threads shows: the view loads it and pushes plain data into the canvas, so that a frame never waits
// for the framework.
import type {RefObject} from "preact";
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {address, ask} from "../api";
import {scope, useKnown, usePart} from "../known";
import {arranged, castRows, rowOf, Settled, type Wish} from "../lib/arrange";
import {count, duration, instant, many} from "../lib/format";
import {ids} from "../lib/lanes";
import type {Shown} from "../lib/link";
import {
  type Crowd,
  costOf,
  crowdRows,
  crowds as crowdsOf,
  type Entry,
  filtered,
  grouped,
  keyOf,
  type Row,
  stacked,
} from "../lib/rows";
import {around, type Span} from "../lib/scale";
import {sorted} from "../lib/table";
import type {Arrows, Interval, Path, ThreadRow} from "../lib/types";
import {type Kind, stateNumber} from "../lib/words";
import {show} from "../store";
import type {GroupHit, Hit, ThreadsPlane} from "../timeline/threads";
import {useEvent, useRested} from "../ui/hooks";
import {type Stage, useLinkedView} from "./stage";

export interface Hover {
  hit: Hit | null;
  group: GroupHit | null;
  x: number;
  y: number;
}

/** The threads that pass the filter, and their rows. */
export function useRows(shown: Shown) {
  const {filter, grouping, folded: names, opened, thread} = shown;
  const {threads, groups} = useKnown();
  const folded = useMemo(() => new Set(names), [names]);
  const [platform, virtual] = useMemo(
    () => [threads.filter((one) => !one.virtual), threads.filter((one) => one.virtual)],
    [threads],
  );
  const listed = useMemo(() => sorted(filtered(platform, filter), ({name}) => name, "asc"), [platform, filter]);
  const crowds = useMemo(
    () => crowdsOf(groups, virtual, filter, new Set(opened), thread),
    [groups, virtual, filter, opened, thread],
  );
  const wish = useWish(shown, platform);
  const cast = useCast(shown);
  const rows = useMemo(() => {
    const usual = (threads: ThreadRow[]): Entry[] => [
      ...crowdRows(crowds),
      ...(grouping === "none" ? arranged(threads, wish) : grouped(threads, grouping, folded)),
    ];
    if (!cast) return [];
    if (cast.length === 0) return stacked(usual(listed));
    const others = listed.filter((one) => !cast.includes(one));
    const rest = platform.length + groups.reduce((sum, group) => sum + group.threads, 0) - cast.length;
    return stacked(castRows(cast, rest, others, wish, () => usual(listed).filter((row) => !isOf(cast, row))));
  }, [listed, grouping, folded, crowds, wish, cast, platform, groups]);
  const last = rows.at(-1);
  // Arrows and sums of some threads only; groups are not filtered thread by thread.
  const some = useMemo(() => {
    if (!cast) return [];
    if (cast.length > 0 && !wish.opened.has(rowOf.rest)) return cast.map(({id}) => id);
    return listed.length === platform.length && crowds.length === groups.length ? null : restricted(listed, crowds);
  }, [listed, platform, crowds, groups, cast, wish]);
  return {platform, listed, cast, rows, crowds, some, folded, height: last ? last.top + last.height : 0};
}

/** Whether a row is the lane of one of some threads. A pool is complete although some of its threads have lanes elsewhere. */
function isOf(threads: readonly ThreadRow[], row: Entry): boolean {
  return row.kind === "thread" && threads.includes(row.thread);
}

/** The threads of the episode in their order; null while some are loading, because their lanes would come between the others. */
function useCast({cast}: Shown): ThreadRow[] | null {
  const {byId, asked, error} = useKnown();
  return useMemo(() => {
    if (!error && !cast.every((id) => byId.has(id) || asked.has(id))) return null;
    return cast.map((id) => byId.get(id)).filter((one) => one !== undefined);
  }, [cast, byId, asked, error]);
}

/** How rows are arranged. They are sorted anew for another session, range or order; otherwise they stay where they are. */
function useWish({order, sorted: times, opened, thread, filter}: Shown, platform: ThreadRow[]): Wish {
  const {session, summed} = useKnown();
  const key = `${session?.id} ${summed?.from} ${summed?.to} ${order} ${times}`;
  const settled = useMemo(() => new Settled(key), [key]);
  const poolSizes = useMemo(() => {
    const sizes = new Map<string, number>();
    for (const {pool} of platform) sizes.set(pool, (sizes.get(pool) ?? 0) + 1);
    return sizes;
  }, [platform]);
  const named = filter.only !== null || filter.pattern.trim() !== "";
  return useMemo(
    () => ({order, opened: new Set(opened), chosen: thread, named, poolSizes, settled}),
    [order, opened, thread, named, poolSizes, settled],
  );
}

/** The threads that have rows; null if a group has some that have not. */
function restricted(listed: ThreadRow[], crowds: Crowd[]): number[] | null {
  return crowds.length > 0 ? null : listed.map(({id}) => id);
}

export function pathParameters(shown: Shown) {
  return {...scope(shown), thread: shown.pathThread || undefined, mode: shown.mode};
}

/** The arrows in sight, loaded once the view rests. */
export function useArrows(shown: Shown, view: Span, threads: number[] | null) {
  const rested = useRested(view, 120);
  const from = Math.max(0, Math.floor(rested.from));
  const to = Math.ceil(rested.to);
  const parameters = {
    from,
    to: Math.max(to, from + 1),
    kinds: shown.arrows.join(","),
    threads: threads ? ids(threads) : undefined,
    limit: 600,
  };
  const any = shown.arrows.length > 0 && to > 1 && threads?.length !== 0;
  return usePart<Arrows>("interactions", any ? parameters : null, true);
}

/** Returns a function that selects the interval of a thread at a time. */
export function useChoose(setProblem: (problem: string | null) => void): (thread: number, time: number) => void {
  const {session} = useKnown();
  const last = useRef<AbortController | null>(null);
  return useEvent(async (thread: number, at: number) => {
    if (!session) return;
    last.current?.abort(); // the last click wins
    last.current = new AbortController();
    const {signal} = last.current;
    try {
      const {seq} = await ask<Interval>(address(`sessions/${session.id}/interval`, {thread, at}), {signal});
      setProblem(null);
      show({thread, seq, virtual: ""});
    } catch (error) {
      if (!signal.aborted) setProblem((error as Error).message);
    }
  });
}

/** Shows a session as far as it has come. The end of a live session that is followed stays in sight. */
export function useSession(stage: Stage<ThreadsPlane>, shown: Shown): void {
  const {session, version} = useKnown();
  const advance = useEvent((id: string, {from, to}: Span, version: number) => {
    const plane = stage.plane.current!;
    const {limits: old, view} = plane;
    const first = plane.cache.session !== id;
    plane.limits = {from, to: Math.max(from + 1, to)};
    plane.follow(id, version, to);
    plane.gaps = session?.gaps ?? [];
    if (first) plane.setView(shown.view ?? plane.limits);
    else if (shown.follow && session?.live && old.to !== to) {
      const whole = view.from <= old.from && view.to >= old.to;
      plane.setView(whole ? plane.limits : {from: to - (view.to - view.from), to});
    } else plane.setView(view);
  });
  const {id = "", from = 0, to = 0} = session ?? {};
  useEffect(() => {
    if (id) advance(id, {from, to}, version);
  }, [id, from, to, version]);
  useLinkedView(stage, shown, () => id !== "" && stage.plane.current?.cache.session === id);
}

interface Picture {
  rows: Row[];
  path: Path | null;
  arrows: Arrows | null;
  chosen: Interval | null;
}

/** Pushes into the canvas whatever changed. */
export function usePicture(
  plane: RefObject<ThreadsPlane | null>,
  shown: Shown,
  {rows, path, arrows, chosen}: Picture,
): void {
  const {info} = useKnown();
  const {range, thread, hidden, virtual} = shown;
  useEffect(() => plane.current!.setRows(rows), [plane, rows]);
  useEffect(() => plane.current!.setHidden(hidden), [plane, hidden]);
  useEffect(() => {
    plane.current!.setArrows(arrows?.arrows ?? [], arrows?.calls ?? [], (info?.interactions ?? []) as Kind[]);
  }, [plane, arrows, info]);
  const drawn = shown.path ? path : null;
  useEffect(
    () => plane.current!.setMembers([...(arrows?.virtual ?? []), ...(drawn?.virtual ?? [])]),
    [plane, arrows, drawn],
  );
  const marked = shown.seq ? chosen : null;
  useEffect(() => {
    Object.assign(plane.current!, {range, path: drawn, chosen: marked, chosenThread: thread, chosenGroup: virtual});
    plane.current!.changed();
  }, [plane, range, drawn, marked, thread, virtual]);
}

/** Brings the selected interval into sight, even if a table led to it; returns the text for screen readers. */
export function useReveal(
  {plane, scroller}: Stage<ThreadsPlane>,
  {seq, virtual}: Shown,
  chosen: Interval | null,
  rows: readonly Row[],
): string {
  const [said, setSaid] = useState("");
  const reveal = useEvent((interval: Interval) => {
    const made = plane.current!;
    const {thread, title, from, to} = interval;
    if (interval.seq !== seq || made.limits.to <= 1) return;
    setSaid(`${thread.name}: ${title}, ${duration(to - from)}, from ${instant(from)}`);
    if (to <= made.view.from || from >= made.view.to) userView(made, around(interval, made.limits));
    bring(made.place(thread.id));
  });
  const bring = (place: {y: number; height: number} | null) => {
    const box = scroller.current!;
    if (place && (place.y < box.scrollTop || place.y + place.height > box.scrollTop + box.clientHeight)) {
      box.scrollTop = place.y - box.clientHeight / 2;
    }
  };
  const row = virtual ? rows.find((row) => keyOf(row) === virtual) : undefined;
  const sentence = row?.kind === "virtual" ? describeGroup(row) : row?.kind === "group" ? describeFolded(row) : "";
  const revealGroup = useEvent((text: string) => {
    setSaid(text);
    bring(plane.current!.placeOfGroup(virtual));
  });
  useEffect(() => {
    if (sentence) revealGroup(sentence);
  }, [sentence]);
  useEffect(() => {
    if (chosen) reveal(chosen);
  }, [chosen]);
  return said;
}

/** What a row of folded threads is, in a sentence. */
export function describeFolded({name, members, folded}: Row & {kind: "group"}): string {
  return `${name}: ${count(members.length)}, ${folded ? "folded" : "open"}`;
}

/** What is known of a group of virtual threads or a pool, in a sentence. */
export function describeGroup({group, open, members, pool}: Crowd): string {
  const {name, threads, alive, blocked, states, waited, idle} = group;
  if (pool) {
    const shown = open ? `open, ${count(members.length)} of them shown` : "folded";
    return `${name}: ${many(threads, "thread")}, ${count(alive)} of them alive; ${shown}; blocked for ${duration(blocked.time)} (${count(blocked.count)}×), idle for ${duration(idle.time)}`;
  }
  const queued = states[stateNumber("queued")]?.time ?? 0;
  const shown = open ? `open, ${count(members.length)} of them shown, those ${costOf(group).words}` : "folded";
  return `${name}: ${count(threads)} virtual threads, ${count(alive)} of them alive; ${shown}; blocked for ${duration(blocked.time)} (${count(blocked.count)}×), queued for ${duration(queued)}, waited for ${duration(waited.time)}`;
}

/** The part of the rows in sight. The address follows once it rests; `wanted` is where a link left the lanes. */
export function useScroll({plane, scroller}: Stage<ThreadsPlane>, rows: Row[], wanted: number) {
  const [sight, setSight] = useState({top: 0, height: 400});
  const begun = useRef(false);
  useEffect(() => {
    const box = scroller.current!;
    let timer = 0;
    const update = () => {
      setSight({top: box.scrollTop, height: box.clientHeight});
      plane.current?.scrollTo(box.scrollTop);
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
  }, [plane, scroller]);
  const there = rows.length > 0;
  const start = useEvent(() => {
    begun.current = true;
    scroller.current!.scrollTop = wanted;
  });
  useLayoutEffect(() => {
    if (there && !begun.current) start();
  }, [there]);
  return sight;
}

/** Changes the view for the user, which stops following. */
export function userView(plane: ThreadsPlane, view: Span): void {
  show({follow: false});
  plane.setView(view);
}
