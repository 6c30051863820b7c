// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The lock view: a lane per lock, who held it, who queued, how it was handed on.
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {address, useAnswer} from "../api";
import {useKnown} from "../known";
import {count, duration, instant, px, shortClass} from "../lib/format";
import type {Shown} from "../lib/link";
import {around, type Span} from "../lib/scale";
import type {Convoy, LockLanes, LockRow} from "../lib/types";
import {show} from "../store";
import {rulerHeight} from "../timeline/draw";
import {LocksPlane, lockRowHeight} from "../timeline/locks";
import {useKeys} from "../ui/keys";
import {Button, Empty, Problem, Time} from "../ui/parts";
import {Table} from "../ui/Table";
import {ThreadName} from "./Detail";
import {Minimap} from "./Minimap";
import {useLinkedView} from "./view";

const gutterWidth = 248;
const pageSize = 20;

export function LocksView({shown}: {shown: Shown}) {
  const {session, version} = useKnown();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const plane = useRef<LocksPlane | null>(null);
  const [view, setView] = useState<Span>({from: 0, to: 1});
  const [rested, setRested] = useState<Span>(view);
  const offset = shown.skip;
  const setOffset = (skip: number) => show({skip});
  const [tip, setTip] = useState<{text: string; x: number; y: number} | null>(null);

  useEffect(() => {
    const made: LocksPlane = new LocksPlane(canvas.current!, {
      view: (view) => setView(view),
      range: (range) => show({range}),
      click: (_, y) => show({lock: made.rowAt(y)?.row.lock.id ?? 0}),
      double: (x, y) => {
        const hold = made.hold(x, y);
        const run = hold?.lane.holds.find(({from}) => from === hold.from);
        if (run) made.setView(around(run, made.limits));
      },
      hover: (x, y, inside) => {
        const hold = inside ? made.hold(x, y) : null;
        setTip(hold ? {text: hold.text, x, y} : null);
      },
      scroll: (by) => {
        const box = scroller.current!;
        box.scrollTop += by;
        return box.scrollHeight > box.clientHeight;
      },
    });
    plane.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const made = plane.current!;
    if (!session) return;
    const {limits, view} = made;
    made.limits = {from: session.from, to: Math.max(session.from + 1, session.to)};
    if (limits.to <= 1) made.setView(shown.view ?? made.limits);
    else made.setView(view.from <= limits.from && view.to >= limits.to ? made.limits : view);
  }, [session?.id, session?.from, session?.to]);
  useLinkedView(plane, view, shown, (made) => made.limits.to > 1);
  useEffect(() => {
    const timer = setTimeout(() => setRested(view), 150);
    return () => clearTimeout(timer);
  }, [view]);

  const url =
    session && rested.to > 1
      ? address(`sessions/${session.id}/locklanes`, {
          from: Math.floor(rested.from),
          to: Math.max(Math.ceil(rested.to), Math.floor(rested.from) + 1),
          width: 1000,
          offset,
          limit: pageSize,
        })
      : null;
  const {data: answer, error, loading} = useAnswer<LockLanes>(url, version);
  // Locks for which nobody waited in sight (threads that were joined, say) come last, and have nothing to show.
  const data = useMemo(() => answer && {...answer, lanes: answer.lanes.filter(({row}) => isUsed(row))}, [answer]);
  const known =
    !answer || !data ? 0 : data.lanes.length < answer.lanes.length ? offset + data.lanes.length : answer.total;
  useEffect(() => plane.current!.setLanes(data), [data]);
  useEffect(() => {
    const made = plane.current!;
    made.range = shown.range;
    made.chosen = shown.lock;
    made.changed();
  }, [shown.range, shown.lock]);
  const onScroll = () => {
    plane.current!.scrollTop = scroller.current!.scrollTop;
    plane.current!.changed();
  };
  const lanes = data?.lanes ?? [];
  const at = lanes.findIndex(({row}) => row.lock.id === shown.lock);
  const chosen = lanes[at];
  const walk = (step: number) => {
    const next = Math.max(0, Math.min(lanes.length - 1, at < 0 ? 0 : at + step));
    const box = scroller.current!;
    const y = next * lockRowHeight;
    if (y < box.scrollTop || y + lockRowHeight > box.scrollTop + box.clientHeight) box.scrollTop = y;
    if (lanes[next]) show({lock: lanes[next].row.lock.id});
  };
  useKeys((e) => {
    const made = plane.current!;
    const step = {
      w: () => made.zoomAt(made.width / 2, 0.7),
      s: () => made.zoomAt(made.width / 2, 1 / 0.7),
      a: () => made.panBy(-made.width / 6),
      d: () => made.panBy(made.width / 6),
      "0": () => made.setView(made.limits),
      ArrowUp: () => walk(-1),
      ArrowDown: () => walk(1),
      Escape: () => show(shown.lock ? {lock: 0} : {range: null}),
    }[e.key];
    step?.();
    return step !== undefined;
  });
  return (
    <div class="threads">
      <div class="toolbar">
        <fieldset class="legend" aria-label="Legend">
          <span class="entry plain">
            <i class="chip hold" />
            held, by thread
          </span>
          <span class="entry plain">
            <i class="chip queue" />
            threads in the queue
          </span>
          <span class="entry plain">
            <i class="chip handover" />
            handed on
          </span>
          <span class="entry plain">
            <i class="chip convoy" />
            convoy: handed on in a row
          </span>
        </fieldset>
        <div class="tools">
          {known > pageSize && (
            <>
              <span class="hint">
                {offset + 1}–{Math.min(offset + pageSize, known)} of {count(known)} locks
              </span>
              <Button
                icon="left"
                label="Locks before"
                disabled={offset === 0}
                onClick={() => setOffset(Math.max(0, offset - pageSize))}
              />
              <Button
                icon="right"
                label="Next locks"
                disabled={offset + pageSize >= known}
                onClick={() => setOffset(offset + pageSize)}
              />
            </>
          )}
        </div>
      </div>
      <Problem text={error} />
      <Minimap plane={plane} view={view} shown={shown} />
      <div
        class="lanes"
        role="application"
        aria-label="Lanes of locks over time. Up and down choose a lock, question mark lists all keys."
        tabIndex={0}
      >
        <div class="corner" style={{width: px(gutterWidth), height: px(rulerHeight)}}>
          <span>{data ? `${count(known)} locks` : ""}</span>
          <span class="faint">blocked</span>
        </div>
        <div class="scroller" ref={scroller} onScroll={onScroll}>
          <div class="gutter" style={{width: px(gutterWidth), height: px((data?.lanes.length ?? 0) * lockRowHeight)}}>
            {data?.lanes.map(({row}, i) => (
              <button
                type="button"
                key={row.lock.id}
                class={`name lock ${row.lock.id === shown.lock ? "chosen" : ""}`}
                style={{top: px(i * lockRowHeight), height: px(lockRowHeight)}}
                title={`${row.lock.class}@${row.lock.hash}`}
                onClick={() => show({lock: row.lock.id})}
              >
                <span class="text">
                  {shortClass(row.lock.class) || "(unknown class)"}
                  <span class="faint">@{row.lock.hash}</span>
                </span>
                {row.blocked.time > 0 && <span class="hot">{duration(row.blocked.time)}</span>}
                <span class="second faint">
                  {row.blocked.count > 0
                    ? `${count(row.blocked.count)} blocked, queue of ${row.waiters}, convoy of ${row.convoy}`
                    : `waited for ${duration(row.waited.time + row.parked.time)}`}
                </span>
              </button>
            ))}
          </div>
        </div>
        <canvas ref={canvas} class="plane" style={{left: px(gutterWidth)}} aria-hidden="true" />
        {data && data.lanes.length === 0 && !loading && (
          <Empty title="No thread had to wait for a lock here">
            <p>A lock is seen when somebody waits for it. Zoom out, or let the program run under load.</p>
          </Empty>
        )}
        {tip && (
          <div
            class="tip"
            style={{
              left: px(Math.min(tip.x + gutterWidth + 14, gutterWidth + (plane.current?.width ?? 0) - 260)),
              top: px(tip.y + 16),
            }}
          >
            {tip.text}
          </div>
        )}
      </div>
      {chosen && <LockDetail lane={chosen} plane={plane.current} />}
    </div>
  );
}

function isUsed({blocked, waited, parked, handoffs}: LockRow): boolean {
  return blocked.count + waited.count + parked.count + handoffs > 0 || blocked.time + waited.time + parked.time > 0;
}

function LockDetail({lane, plane}: {lane: LockLanes["lanes"][number]; plane: LocksPlane | null}) {
  const {row} = lane;
  const {byId} = useKnown();
  // The answer names the threads that are in sight; who was part of a convoy need not be.
  const ref = (id: number) => ({id, name: byId.get(id)?.name ?? plane?.name(id) ?? String(id)});
  const columns = useMemo(
    () => [
      {key: "length", title: "Hand-overs", value: (convoy: Convoy) => convoy.length},
      {
        key: "from",
        title: "From",
        value: (convoy: Convoy) => convoy.from,
        show: (convoy: Convoy) => instant(convoy.from, 1e5),
      },
      {
        key: "time",
        title: "Lasted",
        value: (convoy: Convoy) => convoy.to - convoy.from,
        show: (convoy: Convoy) => <Time ns={convoy.to - convoy.from} />,
      },
      {
        key: "threads",
        title: "Threads",
        grow: true,
        value: (convoy: Convoy) => convoy.threads.map((id) => ref(id).name).join(", "),
        tip: (convoy: Convoy) => convoy.threads.map((id) => ref(id).name).join(" → "),
      },
    ],
    [plane, byId],
  );
  return (
    <section class="detail" aria-label="Lock">
      <header>
        <h2>
          {shortClass(row.lock.class)}
          <span class="faint">@{row.lock.hash}</span>
        </h2>
        <span class="faint">{row.lock.class}</span>
        <span class="apart" />
        <button type="button" class="button" onClick={() => show({tab: "monitors", classes: [row.lock.class]})}>
          Statistics of the class
        </button>
        <Button icon="close" label="Close (Esc)" onClick={() => show({lock: 0})} />
      </header>
      <div class="sides">
        <dl class="facts">
          <dt>Blocked</dt>
          <dd>
            <Time ns={row.blocked.time} /> in {count(row.blocked.count)}
          </dd>
          <dt>Waited</dt>
          <dd>
            <Time ns={row.waited.time} /> in {count(row.waited.count)}
          </dd>
          <dt>Held</dt>
          <dd>
            <Time ns={row.held.time} /> in {count(row.held.count)}, as far as contention shows it
          </dd>
          <dt>Holders</dt>
          <dd>{count(row.holders)} threads</dd>
          <dt>Longest queue</dt>
          <dd>{count(row.waiters)} threads</dd>
          <dt>Handed on</dt>
          <dd>{count(row.handoffs)} times</dd>
          {lane.handoffs[0] && (
            <>
              <dt>First hand-over</dt>
              <dd>
                <ThreadName thread={ref(lane.handoffs[0].from)} /> → <ThreadName thread={ref(lane.handoffs[0].to)} />
              </dd>
            </>
          )}
        </dl>
        <div class="fill">
          <Table
            label="Convoys"
            columns={columns}
            rows={lane.convoys}
            id={(convoy) => `${convoy.from}`}
            sort={{key: "length", order: "desc"}}
            onOpen={(convoy) =>
              show({
                range: {from: convoy.from, to: Math.max(convoy.to, convoy.from + 1)},
                view: {from: convoy.from, to: Math.max(convoy.to, convoy.from + 50)},
                tab: "threads",
              })
            }
            empty="The lock was never handed on twice in a row."
          />
        </div>
      </div>
    </section>
  );
}
