// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The canvas of the lock view: for each lock its owners above, and the length of its queue below.
import {duration, many, shortClass} from "../lib/format";
import type {HoldRun, LockLane, LockLanes, LockRow} from "../lib/types";
import {fill, fit, rulerHeight} from "./draw";
import {type Label, Plane} from "./plane";

export function lockName({name, lock}: LockRow): string {
  return name || shortClass(lock.class) || "(unknown class)";
}

export const lockRowHeight = 64;
const holdHeight = 22;
const hues = 8;
const shared = 16; // the mark of holds that overlap

function crowd({marks, holds, threads}: HoldRun): string {
  return marks & shared ? `${threads} holders` : `${holds} holds`;
}

export class LocksPlane extends Plane {
  lanes: LockLanes | null = null;
  scrollTop = 0;
  chosen = 0;
  private names = new Map<number, string>();

  setLanes(lanes: LockLanes | null): void {
    this.lanes = lanes;
    this.names = new Map(lanes?.threads.map(({id, name}) => [id, name]));
    this.changed();
  }

  rowAt(y: number): LockLane | null {
    return y < rulerHeight
      ? null
      : (this.lanes?.lanes[Math.floor((y - rulerHeight + this.scrollTop) / lockRowHeight)] ?? null);
  }

  /** The hold at a place of the canvas. */
  hold(x: number, y: number): {lane: LockLane; text: string; thread: number; from: number} | null {
    const lane = this.rowAt(y);
    const time = this.time(x);
    const hold = lane?.holds.find(({from, to}) => from <= time && time < to);
    if (!lane || !hold) return null;
    const name = this.name(hold.thread);
    const text =
      hold.holds === 1
        ? `held by ${name} for ${duration(hold.to - hold.from)}`
        : hold.marks & shared
          ? `held by ${hold.threads} threads at a time, one of them ${name}, for ${duration(hold.to - hold.from)}`
          : `held ${many(hold.holds, "time")} by ${many(hold.threads, "thread")}, longest by ${name}, ${duration(hold.time)} in total`;
    return {lane, text, thread: hold.thread, from: hold.from};
  }

  name(thread: number): string {
    return this.names.get(thread) ?? `thread ${thread}`;
  }

  protected override labels(): Label[] {
    const middle = lockRowHeight / 2 - this.scrollTop;
    const all = this.lanes?.lanes.map(({row}, i) => ({text: lockName(row), y: i * lockRowHeight + middle, bold: true}));
    return all ?? [];
  }

  protected override paintLanes(): void {
    const {lanes} = this;
    lanes?.lanes.forEach((lane, i) => {
      const y = rulerHeight + i * lockRowHeight - this.scrollTop;
      if (y > this.height || y + lockRowHeight < 0) return;
      if (lane.row.lock.id === this.chosen) {
        fill(this, "row-chosen", 0, y, this.width, lockRowHeight);
      }
      this.paintQueue(lane, lanes, y);
      this.paintHolds(lane, y);
      this.paintHandoffs(lane, y);
      fill(this, "line", 0, y + lockRowHeight - 1, this.width, 1);
    });
  }

  private paintHolds(lane: LockLane, y: number): void {
    const {ctx, colors} = this;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    for (const hold of lane.holds) {
      const x0 = Math.max(-4, this.x(hold.from));
      const x1 = Math.min(this.width + 4, this.x(hold.to));
      if (x1 < 0 || x0 > this.width) continue;
      const w = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
      const several = hold.holds > 1;
      fill(this, several ? "hold-several" : `hold-${hold.thread % hues}`, x0, y + 5, w, holdHeight);
      if (several && w > 3) {
        // Filled in proportion to the time that the lock was held.
        const full = holdHeight * Math.min(1, hold.time / Math.max(1, hold.to - hold.from));
        fill(this, `hold-${hold.thread % hues}`, x0, y + 5 + holdHeight - full, w, full);
      }
      if (w > 44) {
        const text = several ? crowd(hold) : this.name(hold.thread);
        ctx.fillStyle = colors.get("on-hold");
        ctx.fillText(fit(ctx, text, w - 8), Math.max(0, x0) + 4, y + 5 + holdHeight / 2 + 0.5);
      }
    }
  }

  /** The number of blocked threads as steps that rise from the lower edge of the lane. */
  private paintQueue(lane: LockLane, lanes: LockLanes, y: number): void {
    const ground = y + lockRowHeight - 3;
    const unit = (lockRowHeight - holdHeight - 13) / Math.max(1, lane.row.waiters);
    lane.queue.forEach(({step, threads}, i) => {
      if (threads === 0) return;
      const end = lane.queue[i + 1]?.step ?? lanes.steps;
      const x0 = this.x(lanes.from + step * lanes.step);
      const x1 = this.x(lanes.from + end * lanes.step);
      if (x1 < 0 || x0 > this.width) return;
      fill(this, "state-blocked", x0, ground - threads * unit, Math.max(1, x1 - x0), threads * unit);
    });
  }

  private paintHandoffs(lane: LockLane, y: number): void {
    const {ctx, colors} = this;
    ctx.fillStyle = colors.get("kind-handoff");
    let last = -9;
    for (const {time} of lane.handoffs) {
      const x = this.x(time);
      if (x < -5 || x > this.width + 5 || x - last < 3) continue;
      last = x;
      ctx.beginPath();
      ctx.moveTo(x, y + 5 + holdHeight);
      ctx.lineTo(x - 3, y + 5 + holdHeight + 5);
      ctx.lineTo(x + 3, y + 5 + holdHeight + 5);
      ctx.fill();
    }
    ctx.strokeStyle = colors.get("text-2");
    ctx.lineWidth = 1;
    for (const convoy of lane.convoys.slice(0, 5)) {
      if (convoy.length < 3) continue;
      const x0 = this.x(convoy.from);
      const x1 = this.x(convoy.to);
      if (x1 - x0 < 6) continue;
      ctx.strokeRect(x0, y + 2.5, x1 - x0, holdHeight + 4);
    }
  }
}
