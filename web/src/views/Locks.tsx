// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The lock view: a lane for each lock with its owners, its queue and its handoffs.
import {useEffect, useMemo, useState} from "preact/hooks";
import {useKnown, usePart} from "../known";
import {count, duration, many, px, shortClass} from "../lib/format";
import type {Shown} from "../lib/link";
import {around} from "../lib/scale";
import type {LockLane, LockLanes} from "../lib/types";
import {show} from "../store";
import {moveOf} from "../timeline/keys";
import {LocksPlane, lockName, lockRowHeight} from "../timeline/locks";
import {useEvent, useKeys, useRested} from "../ui/hooks";
import {Button, Empty, Problem} from "../ui/parts";
import {HoldersPanel} from "./Holders";
import {LockDetail} from "./LockDetail";
import {Minimap} from "./Minimap";
import {Pages} from "./Pages";
import {gutterWidth, Lanes, type Stage, savePicture, useLinkedView, useStage} from "./stage";

const pageSize = 20;
/** How many locks of one name have lanes. */
const perName = 3;

interface Tip {
  text: string;
  x: number;
  y: number;
}

export function LocksView({shown}: {shown: Shown}) {
  const [tip, setTip] = useState<Tip | null>(null);
  const {session} = useKnown();
  const stage = useLocksStage(shown, setTip);
  const {lanes, known, error, loading, range} = useLockLanes(stage, shown);
  const {plane, scroller} = stage;
  const at = lanes?.findIndex(({row}) => row.lock.id === shown.lock) ?? -1;
  const chosen = lanes?.[at];
  const walk = (step: number) => {
    const next = Math.max(0, Math.min((lanes?.length ?? 0) - 1, at < 0 ? 0 : at + step));
    const box = scroller.current!;
    const y = next * lockRowHeight;
    if (y < box.scrollTop || y + lockRowHeight > box.scrollTop + box.clientHeight) box.scrollTop = y;
    if (lanes?.[next]) show({lock: lanes[next].row.lock.id});
  };
  useKeys(({key}) => {
    const own = {
      ArrowUp: () => walk(-1),
      ArrowDown: () => walk(1),
      Escape: () => show(shown.lock ? {lock: 0} : {range: null}),
    }[key];
    const step = own ?? moveOf(key, plane.current!);
    step?.();
    return step !== undefined;
  });
  const onScroll = () => {
    plane.current!.scrollTop = scroller.current!.scrollTop;
    plane.current!.changed();
  };
  return (
    <div class="threads">
      <div class="toolbar">
        <Legend />
        <div class="tools">
          <Button
            text="All locks"
            label="Also locks that no thread waited to get, and all locks of the same name"
            pressed={shown.all}
            onClick={() => show({all: !shown.all, skip: 0})}
          />
          <Pages of="locks" offset={shown.skip} size={pageSize} total={known} onMove={(skip) => show({skip})} />
        </div>
      </div>
      <Problem text={error} />
      <Minimap stage={stage} shown={shown} onPicture={() => savePicture(plane.current!, session, "locks")} />
      <Lanes
        stage={stage}
        label="Lanes of locks over time. Press up or down to select a lock, and the question mark to list all keys."
        corner={lanes ? many(known, "lock") : ""}
        height={(lanes?.length ?? 0) * lockRowHeight}
        names={lanes?.map((lane, i) => (
          <LaneName key={lane.row.lock.id} lane={lane} top={i * lockRowHeight} chosen={lane === chosen} />
        ))}
        onScroll={onScroll}
      >
        {lanes?.length === 0 && !loading && (
          <Empty title="No contended locks here">
            <p>A lock appears once a thread has to wait to get it. Zoom out, or run the program under load.</p>
          </Empty>
        )}
        {tip && <LockTip tip={tip} width={plane.current?.width ?? 0} />}
      </Lanes>
      {chosen ? (
        <LockDetail lane={chosen} plane={plane.current} parameters={range} />
      ) : (
        <HoldersPanel parameters={range} />
      )}
    </div>
  );
}

/** The canvas of locks. A view of the whole session stays one when the session grows. */
function useLocksStage(shown: Shown, setTip: (tip: Tip | null) => void): Stage<LocksPlane> {
  const {session} = useKnown();
  const stage = useStage((canvas, events) => new LocksPlane(canvas, events), {
    click: (plane, _, y) => show({lock: plane.rowAt(y)?.row.lock.id ?? 0}),
    double: (plane, x, y) => {
      const hold = plane.hold(x, y);
      const run = hold?.lane.holds.find(({from}) => from === hold.from);
      if (run) plane.setView(around(run, plane.limits));
    },
    hover: (plane, x, y, inside) => {
      const hold = inside ? plane.hold(x, y) : null;
      setTip(hold && {text: hold.text, x, y});
    },
  });
  const grow = useEvent((from: number, to: number) => {
    const plane = stage.plane.current!;
    const {limits: old, view} = plane;
    plane.limits = {from, to: Math.max(from + 1, to)};
    if (old.to <= 1) plane.setView(shown.view ?? plane.limits);
    else plane.setView(view.from <= old.from && view.to >= old.to ? plane.limits : view);
  });
  const {id = "", from = 0, to = 0} = session ?? {};
  useEffect(() => {
    if (id) grow(from, to);
  }, [id, from, to]);
  useLinkedView(stage, shown, (plane) => plane.limits.to > 1);
  const {range, lock} = shown;
  useEffect(() => {
    const plane = stage.plane.current!;
    Object.assign(plane, {range, chosen: lock});
    plane.changed();
  }, [stage.plane, range, lock]);
  return stage;
}

/** The lanes of a page of locks, and how many locks there are on all pages. */
function useLockLanes({plane, view}: Stage<LocksPlane>, {skip, all, lock}: Shown) {
  const rested = useRested(view, 150);
  const from = Math.floor(rested.from);
  const to = Math.max(Math.ceil(rested.to), from + 1);
  const range = rested.to > 1 ? {from, to} : null;
  const which = all ? {} : {contended: true, per_name: perName, keep: lock};
  const parameters = range && {...range, ...which, width: 1000, offset: skip, limit: pageSize};
  const {data: answer, error, loading} = usePart<LockLanes>("locklanes", parameters);
  // Locks without a waiter in sight (joined threads, for example) come last, and have nothing to show.
  const data = useMemo(() => answer && {...answer, lanes: answer.lanes.filter(isUsed)}, [answer]);
  useEffect(() => plane.current!.setLanes(data), [plane, data]);
  const lanes = data?.lanes;
  const known = !answer || !lanes ? 0 : lanes.length < answer.lanes.length ? skip + lanes.length : answer.total;
  return {lanes, known, error, loading, range};
}

function isUsed({row: {blocked, waited, parked, handoffs}}: LockLane): boolean {
  return blocked.count + waited.count + parked.count + handoffs > 0 || blocked.time + waited.time + parked.time > 0;
}

function Legend() {
  const entries = {
    hold: "held (color: thread)",
    queue: "queue length",
    handover: "handoff",
    convoy: "convoy: consecutive handoffs",
  };
  return (
    <fieldset class="legend" aria-label="Legend">
      {Object.entries(entries).map(([chip, text]) => (
        <span class="entry plain" key={chip}>
          <i class={`chip ${chip}`} />
          {text}
        </span>
      ))}
    </fieldset>
  );
}

function LaneName({lane, top, chosen}: {lane: LockLane; top: number; chosen: boolean}) {
  const {lock, name, kind, blocked, waiters, convoy, waited, parked} = lane.row;
  const {locks, time} = lane.namesakes;
  const object = `${shortClass(lock.class)}@${lock.hash}`;
  const sums =
    blocked.count > 0 || blocked.time > 0
      ? `${count(blocked.count)} blocked, queue of ${waiters}, convoy of ${convoy}`
      : `waits of ${duration(waited.time + parked.time)}`;
  const others = locks > 1 ? `one of ${count(locks)} of this name, which threads waited ${duration(time)} for` : "";
  return (
    <button
      type="button"
      class={`name lock ${chosen ? "chosen" : ""}`}
      style={{top: px(top), height: px(lockRowHeight)}}
      title={[name, `${lock.class}@${lock.hash}`, sums, others].filter(Boolean).join("\n")}
      onClick={() => show({lock: lock.id})}
    >
      <span class="text">{lockName(lane.row)}</span>
      {blocked.time > 0 && <span class="hot">{duration(blocked.time)}</span>}
      <span class="second faint">
        {kind === "permit" || kind === "pool" ? `${kind} ` : ""}
        {name ? object : `@${lock.hash}`}
        {locks > 1 && `, 1 of ${count(locks)}: ${duration(time)}`}
      </span>
      <span class="second faint">{sums}</span>
    </button>
  );
}

function LockTip({tip: {text, x, y}, width}: {tip: Tip; width: number}) {
  const left = gutterWidth + Math.min(x + 14, width - 260);
  return (
    <div class="tip" style={{left: px(left), top: px(y + 16)}}>
      {text}
    </div>
  );
}
