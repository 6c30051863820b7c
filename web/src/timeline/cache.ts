// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Caches the strips of lanes. Missing ones are requested a few lanes at a time, so that no answer is large. Until they
// arrive the best available strip is drawn, so that zoom and pan never wait.
import {address, ask, retry} from "../api";
import {ids, type Strip, strip} from "../lib/lanes";
import {fetched, type Span} from "../lib/scale";
import type {Lanes} from "../lib/types";

interface Kept extends Strip {
  key: string;
  span: Span;
  version: number;
  /** The session was already past its end when it was requested, so that it never changes. */
  final: boolean;
}

const lanesAtOnce = 10;
const keptPerThread = 4;
const mostSteps = 4000;
const mostThreads = 2000;

export class LaneCache {
  private kept = new Map<number, Kept[]>();
  private requests = new Map<string, AbortController>();
  private wanted = {span: {from: 0, to: 1, cell: 1}, threads: [] as number[]};
  private timer = 0;
  /** A request failed and will be repeated. */
  private failing = false;
  session = "";
  version = 0;
  to = 0;

  constructor(
    private readonly changed: () => void,
    private readonly failed: (message: string | null) => void,
  ) {}

  /** Sets the session, its version and its end. */
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
    for (const abort of this.requests.values()) abort.abort();
    this.requests.clear();
  }

  /** Returns the strip that shows a thread best: it covers most of the view at about the wanted resolution. */
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
    // While zooming, each frame wants something else: only the first is requested at once, the rest once the view rests.
    this.timer = window.setTimeout(() => this.request(), this.requests.size === 0 ? 0 : 80);
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

  private request(): void {
    const {span} = this.wanted;
    const key = this.key();
    for (const [name, abort] of this.requests) {
      if (!name.startsWith(`${key} `)) {
        abort.abort();
        this.requests.delete(name);
      }
    }
    const missing = this.missing();
    for (let i = 0; i < missing.length; i += lanesAtOnce) {
      const some = missing.slice(i, i + lanesAtOnce);
      const name = `${key} ${some.join()} ${this.version}`;
      if (!this.requests.has(name)) this.load(name, key, span, some);
    }
  }

  private load(name: string, key: string, span: Span & {cell: number}, threads: number[]): void {
    const abort = new AbortController();
    this.requests.set(name, abort);
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
        if (this.failing) this.failed(null);
        this.failing = false;
      })
      .catch((error: Error) => {
        if (abort.signal.aborted) return;
        this.failed(error.message);
        this.failing = true;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.request(), retry);
      })
      .finally(() => this.requests.delete(name));
  }

  private keep(thread: number, one: Kept): void {
    const others = (this.kept.get(thread) ?? []).filter((other) => other.key !== one.key);
    this.kept.delete(thread);
    this.kept.set(thread, [one, ...others].slice(0, keptPerThread));
    if (this.kept.size > mostThreads) this.kept.delete(this.kept.keys().next().value!);
  }

  /** Whether all wanted strips have arrived. */
  complete(): boolean {
    return this.missing().length === 0;
  }
}
