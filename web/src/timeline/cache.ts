// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The strips of lanes that are on the screen, or were. Asks the server for what is missing, a few lanes at a time, so
// that no answer is large; until it comes the nearest strip that is there is drawn, so that zoom and pan never wait.
import {address, ask, retry} from "../api";
import {ids, type Strip, strip} from "../lib/lanes";
import {fetched, type Span} from "../lib/scale";
import type {Lanes} from "../lib/types";

interface Kept extends Strip {
  key: string;
  span: Span;
  version: number;
  /** Everything in it had happened when it was asked for. */
  final: boolean;
}

const lanesAtOnce = 10;
const keptPerThread = 4;
const mostSteps = 4000;
const mostThreads = 2000;

export class LaneCache {
  private kept = new Map<number, Kept[]>();
  private asked = new Map<string, AbortController>();
  private wanted = {span: {from: 0, to: 1, cell: 1}, threads: [] as number[]};
  private timer = 0;
  /** Something was not answered, and is asked for again. */
  private again = false;
  session = "";
  version = 0;
  to = 0;

  constructor(
    private readonly changed: () => void,
    private readonly failed: (message: string | null) => void,
  ) {}

  /** Says which session, how far it is, and what of it is new. */
  follow(session: string, version: number, to: number): void {
    if (session !== this.session) {
      this.stop();
      this.kept.clear();
    }
    this.session = session;
    this.version = version;
    this.to = to;
  }

  stop(): void {
    clearTimeout(this.timer);
    for (const abort of this.asked.values()) abort.abort();
    this.asked.clear();
  }

  /** The strip that shows a thread best: the one that was asked for, or else the one that covers most of the view. */
  best(thread: number, view: Span): Strip | null {
    let found: Kept | null = null;
    let best = 0;
    for (const strip of this.kept.get(thread) ?? []) {
      const covered = Math.min(view.to, strip.span.to) - Math.max(view.from, strip.span.from);
      const score = covered / Math.max(1, Math.abs(Math.log2(strip.step / this.wanted.span.cell)) + 1);
      if (covered > 0 && score > best) {
        found = strip;
        best = score;
      }
    }
    return found;
  }

  want(view: Span, width: number, limits: Span, threads: number[]): void {
    const span = fetched(view, width, limits);
    while ((span.to - span.from) / span.cell > mostSteps) span.cell *= 2;
    this.wanted = {span, threads};
    const missing = this.missing();
    clearTimeout(this.timer);
    if (missing.length === 0) return;
    // While one zooms the questions change with each frame: the first is asked at once, the others when it rests.
    this.timer = window.setTimeout(() => this.ask(), this.asked.size === 0 ? 0 : 80);
  }

  private key(): string {
    const {from, to, cell} = this.wanted.span;
    return `${from}-${to}/${cell}`;
  }

  private missing(): number[] {
    const key = this.key();
    return this.wanted.threads.filter((thread) => {
      const strip = this.kept.get(thread)?.find((one) => one.key === key);
      return !(strip && (strip.final || strip.version === this.version));
    });
  }

  private ask(): void {
    const {span} = this.wanted;
    const key = this.key();
    for (const [name, abort] of this.asked) {
      if (!name.startsWith(`${key} `)) {
        abort.abort();
        this.asked.delete(name);
      }
    }
    const missing = this.missing();
    for (let i = 0; i < missing.length; i += lanesAtOnce) {
      const some = missing.slice(i, i + lanesAtOnce);
      const name = `${key} ${some.join()} ${this.version}`;
      if (!this.asked.has(name)) this.load(name, key, span, some);
    }
  }

  private load(name: string, key: string, span: Span & {cell: number}, threads: number[]): void {
    const abort = new AbortController();
    this.asked.set(name, abort);
    const {version, to} = this;
    const url = address(`sessions/${this.session}/lanes`, {
      from: span.from,
      to: span.to,
      width: Math.max(1, Math.ceil((span.to - span.from) / span.cell)),
      threads: ids(threads),
      limit: threads.length,
    });
    ask<Lanes>(url, {signal: abort.signal})
      .then((lanes) => {
        for (const lane of lanes.lanes) {
          this.keep(lane.thread.id, {...strip(lanes, lane), key, span, version, final: span.to < to});
        }
        this.changed();
        if (this.again) this.failed(null);
        this.again = false;
      })
      .catch((error: Error) => {
        if (abort.signal.aborted) return;
        this.failed(error.message);
        this.again = true;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.ask(), retry);
      })
      .finally(() => this.asked.delete(name));
  }

  private keep(thread: number, one: Kept): void {
    const others = (this.kept.get(thread) ?? []).filter((other) => other.key !== one.key);
    this.kept.delete(thread);
    this.kept.set(thread, [one, ...others].slice(0, keptPerThread));
    if (this.kept.size > mostThreads) this.kept.delete(this.kept.keys().next().value!);
  }

  /** For tests and pictures: whether all that is wanted is there. */
  complete(): boolean {
    return this.missing().length === 0;
  }
}
