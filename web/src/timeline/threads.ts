// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The canvas of threads: where lanes, arrows and path are on the screen, and what is under the pointer.
import {type Area, countsAt} from "../lib/areas";
import {run, runAt, type Strip} from "../lib/lanes";
import {type Row, rowAt, rowName} from "../lib/rows";
import type {Arrow, Call, Gap, Interval, Lanes, Members, Path, Virtual} from "../lib/types";
import {type Kind, states} from "../lib/words";
import {type AreaOnScreen, paintAreas, paintPeaks} from "./areas";
import {LaneCache, ofGroups, ofPools, ofThreads} from "./cache";
import {
  type ArrowInRows,
  fill,
  label,
  paintArrows,
  paintCall,
  paintEnd,
  paintGaps,
  paintPath,
  rulerHeight,
} from "./draw";
import {type LaneOnScreen, paintLanes} from "./lanes";
import {type Events, type Label, Plane} from "./plane";
import {Raster} from "./raster";

const overscan = 6;

export interface Hit {
  thread: number;
  time: number;
  /** The run under the pointer, at the resolution of the screen. */
  state: number;
  rest: number;
  share: number;
  /** What the thread did in it. */
  label: string;
  from: number;
  to: number;
}

/** A group of virtual threads or a pool under the pointer: how many were in each state. */
export interface GroupHit {
  key: string;
  group: string;
  time: number;
  counts: Float64Array;
}

interface Place {
  row: number;
  y: number;
  height: number;
}

export class ThreadsPlane extends Plane {
  readonly cache: LaneCache<number, Strip, Lanes>;
  readonly areas: LaneCache<string, Area, Virtual>;
  readonly pools: LaneCache<string, Area, Virtual>;
  private readonly raster = new Raster();
  private rows: Row[] = [];
  private where = new Map<number, Place>();
  /** Rows of more than one thread by key, and the groups of virtual threads without a row. */
  private heads = new Map<string, Place>();
  private groupOf = new Map<number, string>();
  private hidden: ReadonlySet<number> = new Set();
  private arrows: Arrow[] = [];
  private calls: Call[] = [];
  private kindNames: Kind[] = [];
  path: Path | null = null;
  gaps: readonly Gap[] = [];
  chosen: Interval | null = null;
  chosenThread = 0;
  chosenGroup = "";
  scrollTop = 0;
  /** Whether all lanes in sight have been painted once: `make bench-page` measures when. */
  private first = false;

  constructor(canvas: HTMLCanvasElement, events: Events, failed: (message: string | null) => void) {
    super(canvas, events);
    this.cache = new LaneCache(ofThreads, () => this.changed(), failed);
    this.areas = new LaneCache(ofGroups, () => this.changed(), failed);
    this.pools = new LaneCache(ofPools, () => this.changed(), failed);
  }

  /** Sets the session, its version and its end. */
  follow(session: string, version: number, to: number): void {
    this.cache.follow(session, version, to);
    this.areas.follow(session, version, to);
    this.pools.follow(session, version, to);
  }

  override destroy(): void {
    super.destroy();
    this.cache.stop();
    this.areas.stop();
    this.pools.stop();
  }

  setRows(rows: Row[]): void {
    this.rows = rows;
    this.where.clear();
    this.heads.clear();
    const lanes = new Set<number>();
    rows.forEach((row, i) => {
      const place = {row: i, y: row.top, height: row.height};
      if (row.kind === "thread") {
        this.where.set(row.thread.id, place);
        lanes.add(row.thread.id);
        return;
      }
      if (row.key) this.heads.set(row.key, place);
      // Arrows to threads of a folded group end at its head.
      const inside = row.kind === "virtual" ? row.ids : row.folded ? row.members : [];
      for (const id of inside) if (!lanes.has(id)) this.where.set(id, place);
    });
    this.resized();
    this.changed();
  }

  /** Says in which groups the virtual threads of arrows and paths are, which need not have rows of their own. */
  setMembers(members: readonly Members[]): void {
    this.groupOf.clear();
    for (const {group, threads} of members) for (const id of threads) this.groupOf.set(id, group);
    this.changed();
  }

  /** Where a thread is: in its row, or at the head of its group. */
  place(thread: number): Place | null {
    return this.where.get(thread) ?? this.heads.get(this.groupOf.get(thread) ?? "") ?? null;
  }

  placeOfGroup(group: string): Place | null {
    return this.heads.get(group) ?? null;
  }

  setHidden(hidden: readonly string[]): void {
    this.hidden = new Set(hidden.map((name) => states.indexOf(name as (typeof states)[number])));
    this.changed();
  }

  setArrows(arrows: Arrow[], calls: Call[], names: Kind[]): void {
    this.arrows = arrows;
    this.calls = calls;
    this.kindNames = names;
    this.changed();
  }

  scrollTo(top: number): void {
    this.scrollTop = top;
    this.resized();
    this.changed();
  }

  /** The indexes of the rows on the screen. */
  private visible(): {first: number; last: number} {
    const first = Math.max(0, rowAt(this.rows, this.scrollTop));
    const last = Math.max(0, rowAt(this.rows, this.scrollTop + this.height - rulerHeight));
    return {first, last};
  }

  protected override resized(): void {
    if (!this.cache || this.rows.length === 0) return;
    const {first, last} = this.visible();
    const threads: number[] = [];
    const groups: string[] = [];
    const pools: string[] = [];
    for (const row of this.rows.slice(Math.max(0, first - overscan), last + 1 + overscan)) {
      if (row.kind === "thread") threads.push(row.thread.id);
      else if (row.kind === "virtual") (row.pool ? pools : groups).push(row.group.name);
    }
    this.cache.want(this.view, this.width, this.limits, threads);
    this.areas.want(this.view, this.width, this.limits, groups);
    this.pools.want(this.view, this.width, this.limits, pools);
  }

  /** Where arrows to a thread end: at its lane, or at the head of its group if that is folded. */
  private end(thread: number): Place | null {
    const place = this.place(thread);
    const row = place && this.rows[place.row];
    return row?.kind === "virtual" && row.open ? null : place;
  }

  /** The middle of a thread's lane on the canvas; null if it has none. */
  private middle(thread: number): number | null {
    const place = this.end(thread);
    return place ? place.y - this.scrollTop + rulerHeight + place.height / 2 : null;
  }

  protected override paintLanes(): void {
    const {lanes, areas} = this.paintRows();
    this.raster.begin(Math.round(this.width * this.ratio), Math.round(this.height * this.ratio), this.colors);
    paintAreas(this, this.raster, areas, this.hidden);
    paintLanes(this, this.raster, lanes, this.hidden);
    paintPeaks(this, areas);
    paintGaps(this, this.gaps);
    const onScreen: ArrowInRows[] = [];
    for (const arrow of this.arrows) {
      const y0 = this.middle(arrow.from);
      const y1 = this.middle(arrow.to);
      const kind = this.kindNames[arrow.kind];
      if (y0 === null || y1 === null || y0 === y1 || !kind) continue;
      if (Math.max(y0, y1) < 0 || Math.min(y0, y1) > this.height) continue;
      onScreen.push({arrow, kind, y0, y1});
    }
    paintArrows(this, onScreen, (arrow) => this.isChosen(arrow));
    for (const {kind, thread, time} of this.calls) {
      const y = this.middle(thread);
      const name = this.kindNames[kind];
      if (y !== null && y > 0 && y < this.height && name) paintCall(this, name, time, y);
    }
    if (this.path) paintPath(this, this.path.segments, (thread) => this.below(thread));
    this.paintChosen();
    const any = lanes.length > 0 || areas.length > 0;
    if (!this.first && any && this.complete()) {
      this.first = true;
      performance.mark("weft.first");
    }
  }

  /** Whether everything in sight has arrived. */
  complete(): boolean {
    return this.cache.complete() && this.areas.complete() && this.pools.complete();
  }

  private areaOf(row: Row & {kind: "virtual"}): Area | null {
    return (row.pool ? this.pools : this.areas).best(row.group.name, this.view);
  }

  private below(thread: number): number | null {
    const place = this.place(thread);
    return place ? place.y - this.scrollTop + rulerHeight + place.height - 2.5 : null;
  }

  private paintRows(): {lanes: LaneOnScreen[]; areas: AreaOnScreen[]} {
    const lanes: LaneOnScreen[] = [];
    const areas: AreaOnScreen[] = [];
    const {first, last} = this.visible();
    for (const row of this.rows.slice(first, last + 1)) {
      const y = row.top - this.scrollTop + rulerHeight;
      if (row.kind === "group") {
        fill(this, row.key && row.key === this.chosenGroup ? "row-chosen" : "surface-2", 0, y, this.width, row.height);
        continue;
      }
      if (row.kind === "virtual") {
        if (row.key === this.chosenGroup) fill(this, "row-chosen", 0, y, this.width, row.height);
        fill(this, "line", 0, y + row.height - 1, this.width, 1);
        const area = this.areaOf(row);
        if (area) areas.push({area, y, height: row.height});
        continue;
      }
      if (row.thread.id === this.chosenThread) {
        fill(this, "row-chosen", 0, y, this.width, row.height);
      }
      fill(this, "line-soft", 0, y + row.height - 1, this.width, 1);
      if (row.thread.dead && !this.hidden.has(states.indexOf("dead"))) paintEnd(this, row.thread.to, y, row.height);
      const strip = this.cache.best(row.thread.id, this.view);
      if (strip) lanes.push({strip, y, height: row.height});
    }
    return {lanes, areas};
  }

  private isChosen(arrow: Arrow): boolean {
    const {chosen} = this;
    if (!chosen) return false;
    if (arrow.to === chosen.thread.id && arrow.to_time === chosen.to) return true;
    return arrow.from === chosen.thread.id && arrow.from_time >= chosen.from && arrow.from_time < chosen.to;
  }

  private paintChosen(): void {
    const {chosen, ctx, colors} = this;
    const place = chosen && this.place(chosen.thread.id);
    if (!chosen || !place) return;
    const x0 = Math.max(-4, this.x(chosen.from));
    const x1 = Math.min(this.width + 4, Math.max(x0 + 3, this.x(chosen.to)));
    const y = place.y - this.scrollTop + rulerHeight + 1.5;
    ctx.lineWidth = 2;
    ctx.strokeStyle = colors.get("text");
    ctx.strokeRect(x0, y, x1 - x0, place.height - 3);
  }

  /** The row at a height of the canvas. */
  rowAt(y: number): Row | null {
    return y < rulerHeight ? null : (this.rows[rowAt(this.rows, y - rulerHeight + this.scrollTop)] ?? null);
  }

  hit(x: number, y: number): Hit | null {
    const row = this.rowAt(y);
    if (row?.kind !== "thread" || y - rulerHeight + this.scrollTop >= row.top + row.height) return null;
    const strip = this.cache.best(row.thread.id, this.view);
    const time = this.time(x);
    const index = strip ? runAt(strip, time) : -1;
    if (!strip || index < 0) return null;
    const at = run(strip, index);
    return {
      thread: row.thread.id,
      time: Math.max(0, Math.round(time)),
      state: at.state,
      rest: at.rest,
      share: at.share,
      label: strip.labels.get(index) ?? label(at.state),
      from: strip.from + at.from * strip.step,
      to: strip.from + at.to * strip.step,
    };
  }

  /** The group of virtual threads under the pointer, and how many were in each state there. */
  hitGroup(x: number, y: number): GroupHit | null {
    const row = this.rowAt(y);
    if (row?.kind !== "virtual") return null;
    const area = this.areaOf(row);
    const counts = new Float64Array(states.length);
    if (!area || !countsAt(area, this.time(x), this.time(x + 1), counts)) return null;
    return {key: row.key, group: row.group.name, time: Math.max(0, Math.round(this.time(x))), counts};
  }

  /** The number of arrows with both ends in rows, on the screen or not. */
  drawn(): number {
    return this.arrows.filter((arrow) => this.end(arrow.from) && this.end(arrow.to)).length;
  }

  protected override labels(): Label[] {
    const {first, last} = this.visible();
    return this.rows.slice(first, last + 1).map((row) => ({
      text: rowName(row),
      y: row.top - this.scrollTop + row.height / 2,
      bold: row.kind !== "thread",
    }));
  }
}
