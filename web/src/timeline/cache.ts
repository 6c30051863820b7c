// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Caches what lanes show: the strips of threads and the areas of groups. Missing ones are requested a few lanes at a
// time, so that no answer is large. Until they arrive the best available one is drawn, so that zoom and pan never wait.
import {address, ask, type Parameters, retry, silence} from "../api";
import {type Area, areaOf} from "../lib/areas";
import {ids, type Strip, strip} from "../lib/lanes";
import {fetched, type Span} from "../lib/scale";
import type {Lanes, Virtual} from "../lib/types";

interface Kept<Picture> {
  picture: Picture;
  key: string;
  span: Span;
  version: number;
  /** The session was already past its end when it was requested, so that it never changes. */
  final: boolean;
}

/** Milliseconds after which a request is repeated that has no answer. The server answers lanes in much less, or refuses. */
const patience = 60_000;

const keptPerLane = 4;
const mostLanes = 2000;

/** What a cache requests, and how it reads the answer. */
interface Source<Id, Picture, Answer> {
  part: string;
  atOnce: number;
  mostSteps: number;
  parameters: (lanes: Id[]) => Parameters;
  read: (answer: Answer) => [Id, Picture][];
}

export class LaneCache<Id extends number | string, Picture extends {step: number}, Answer> {
  private kept = new Map<Id, Kept<Picture>[]>();
  private requests = new Map<string, AbortController>();
  private wanted = {span: {from: 0, to: 1, cell: 1}, lanes: [] as Id[]};
  private timer = 0;
  /** A request failed and will be repeated. */
  private failing = false;
  session = "";
  version = 0;
  to = 0;

  constructor(
    private readonly source: Source<Id, Picture, Answer>,
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

  /** Returns what shows a lane best: it covers most of the view at about the wanted resolution. */
  best(lane: Id, view: Span): Picture | null {
    let found: Picture | null = null;
    let best = 0;
    for (const {picture, span} of this.kept.get(lane) ?? []) {
      const covered = Math.min(view.to, span.to) - Math.max(view.from, span.from);
      const score = covered / Math.max(1, Math.abs(Math.log2(picture.step / this.wanted.span.cell)) + 1);
      if (covered > 0 && score > best) {
        found = picture;
        best = score;
      }
    }
    return found;
  }

  want(view: Span, width: number, limits: Span, lanes: Id[]): void {
    const span = fetched(view, width, limits);
    while ((span.to - span.from) / span.cell > this.source.mostSteps) span.cell *= 2;
    this.wanted = {span, lanes};
    // Answers for earlier views may still arrive, and must not push out what is wanted.
    for (const lane of lanes) {
      const one = this.found(lane);
      if (one) this.keep(lane, one);
    }
    clearTimeout(this.timer);
    if (this.complete()) return;
    // While zooming, each frame wants something else: only the first is requested at once, the rest once the view rests.
    this.timer = window.setTimeout(() => this.request(), this.requests.size === 0 ? 0 : 80);
  }

  private key(): string {
    const {from, to, cell} = this.wanted.span;
    return `${from}-${to}/${cell}`;
  }

  /** What is kept of a lane for the view that is wanted, of any version. */
  private found(lane: Id): Kept<Picture> | undefined {
    const key = this.key();
    return this.kept.get(lane)?.find((one) => one.key === key);
  }

  private missing(): Id[] {
    return this.wanted.lanes.filter((lane) => {
      const one = this.found(lane);
      return !(one && (one.final || one.version === this.version));
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
    const {atOnce} = this.source;
    for (let i = 0; i < missing.length; i += atOnce) {
      const some = missing.slice(i, i + atOnce);
      const name = `${key} ${some.join()} ${this.version}`;
      if (!this.requests.has(name)) this.load(name, key, span, some);
    }
  }

  private load(name: string, key: string, span: Span & {cell: number}, lanes: Id[]): void {
    const abort = new AbortController();
    this.requests.set(name, abort);
    const {version, to} = this;
    const url = address(`sessions/${this.session}/${this.source.part}`, {
      from: span.from,
      to: span.to,
      width: Math.max(1, Math.ceil((span.to - span.from) / span.cell)),
      limit: lanes.length,
      ...this.source.parameters(lanes),
    });
    const late = window.setTimeout(() => abort.abort(silence()), patience);
    ask<Answer>(url, {signal: abort.signal})
      .then((answer) => {
        const final = span.to < to;
        for (const [lane, picture] of this.source.read(answer)) this.keep(lane, {picture, key, span, version, final});
        this.changed();
        if (this.failing) this.failed(null);
        this.failing = false;
      })
      .catch((error: Error) => {
        if (this.requests.get(name) !== abort) return; // no longer wanted
        this.failed(error.message);
        this.failing = true;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.request(), retry);
      })
      .finally(() => {
        clearTimeout(late);
        // The same may have been requested again after an abort.
        if (this.requests.get(name) === abort) this.requests.delete(name);
      });
  }

  private keep(lane: Id, one: Kept<Picture>): void {
    const all = this.kept.get(lane) ?? [];
    // Answers may overtake each other.
    if (all.some((other) => other.key === one.key && other.version > one.version)) return;
    const others = all.filter((other) => other.key !== one.key);
    this.kept.delete(lane);
    this.kept.set(lane, [one, ...others].slice(0, keptPerLane));
    if (this.kept.size > mostLanes) this.kept.delete(this.kept.keys().next().value!);
  }

  /** What is wanted and requested, for tests that wait for it. */
  describe(): string {
    return `wanted ${this.key()} version ${this.version}, missing ${this.missing().join()}, requested ${[...this.requests.keys()].join("; ")}`;
  }

  /** Whether everything wanted has arrived. */
  complete(): boolean {
    return this.missing().length === 0;
  }
}

/** The lanes of threads. */
export const ofThreads: Source<number, Strip, Lanes> = {
  part: "lanes",
  atOnce: 10,
  mostSteps: 4000,
  parameters: (threads) => ({threads: ids(threads)}),
  read: (answer) => answer.lanes.map((lane) => [lane.thread.id, strip(answer, lane)]),
};

/** The areas of pools. */
export const ofPools: Source<string, Area, Virtual> = {
  part: "pools",
  atOnce: 4,
  mostSteps: 1000,
  parameters: (pools) => ({pool: pools, only: "platform"}),
  read: readAreas,
};

/** The areas of groups of virtual threads. */
export const ofGroups: Source<string, Area, Virtual> = {
  part: "virtual",
  atOnce: 4,
  mostSteps: 1000,
  parameters: (groups) => ({virtual_group: groups, only: "virtual"}),
  read: readAreas,
};

function readAreas(answer: Virtual): [string, Area][] {
  return answer.groups.map((group) => [group.name, areaOf(answer, group)]);
}
