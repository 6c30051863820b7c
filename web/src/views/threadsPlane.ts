// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the canvas of threads shows: the view loads it and pushes plain data into the canvas, so that a frame never waits
// for the framework.
import type {RefObject} from "preact";
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {address, ask} from "../api";
import {scope, useKnown, usePart} from "../known";
import {count, duration, instant} from "../lib/format";
import {ids} from "../lib/lanes";
import type {Shown} from "../lib/link";
import {type Crowd, costOf, crowds as crowdsOf, filtered, type Row, rows as rowsOf} from "../lib/rows";
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
export function useRows({filter, grouping, folded: names, opened, thread}: Shown) {
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
  const rows = useMemo(() => rowsOf(listed, grouping, folded, crowds), [listed, grouping, folded, crowds]);
  const last = rows.at(-1);
  // Arrows and sums of some threads only; groups are not filtered thread by thread.
  const some = useMemo(
    () => (listed.length === platform.length && crowds.length === groups.length ? null : restricted(listed, crowds)),
    [listed, platform, crowds, groups],
  );
  return {platform, listed, rows, crowds, some, folded, height: last ? last.top + last.height : 0};
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
  crowds: readonly Crowd[],
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
  const crowd = crowds.find(({group}) => group.name === virtual);
  const sentence = crowd ? describeGroup(crowd) : "";
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

/** What is known of a group of virtual threads, in a sentence. */
export function describeGroup({group, open, members}: Crowd): string {
  const {name, threads, alive, blocked, states, waited} = group;
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
