// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import {type LaneOrder, orders} from "./arrange";
// The state of the page that a link holds, and its form after the # of the address.
import type {Measure} from "./flame";
import {ids} from "./lanes";
import {type Filter, type Grouping, noFilter} from "./rows";
import type {Span} from "./scale";
import {getWas, putWas, type Was} from "./was";
import {arrowKinds, type IncidentKind, incidentKinds, type Kind, operations, type State, states} from "./words";

export const tabs = [
  "causes",
  "incidents",
  "requests",
  "threads",
  "locks",
  "flame",
  "monitors",
  "path",
  "log",
  "sessions",
] as const;
export type Tab = (typeof tabs)[number];

export const waits = ["waited", "reenter", "parked", "joined", "sleeping", "queued", "suspended"] as const;
export type Waits = (typeof waits)[number];

export const pathTables = ["parts", "classes", "locks", "sites", "per_thread", "per_kind"] as const;
export type By = (typeof pathTables)[number];

/** A time that another program, such as Jaeger, links to: microseconds since the Unix epoch, and the thread; 0 for none. */
export interface Moment {
  time: number;
  length: number;
  thread: number;
}

/** The middle of a moment and a view around it, for a session that began at `origin`, in nanoseconds. */
export function resolve({time, length}: Moment, origin: string): {at: number; view: Span} {
  const from = Number(BigInt(time) * 1000n - BigInt(origin));
  const lasts = Math.max(length, 1) * 1000;
  return {
    at: Math.max(0, Math.round(from + lasts / 2)),
    view: {from: Math.max(0, from - lasts), to: Math.max(1, from + 2 * lasts)},
  };
}

export interface Shown {
  session: string;
  tab: Tab;
  /** The part of time in view; null for all. */
  view: Span | null;
  /** The part of time that all tables count; null for all. */
  range: Span | null;
  follow: boolean;
  hidden: State[];
  arrows: Kind[];
  path: boolean;
  mode: "bounded" | "unbounded";
  /** The thread whose path is shown; 0 for the one that waited longest. */
  pathThread: number;
  grouping: Grouping;
  order: LaneOrder;
  /** How often the order was chosen, also the same one again: not in a link. */
  sorted: number;
  filter: Filter;
  /** Where a link of another program leads; null once it is in view. */
  moment: Moment | null;
  /** The threads of an episode, in the order of their lanes; empty: all threads have lanes. */
  cast: number[];
  /** The selected interval. */
  thread: number;
  seq: number;
  lock: number;
  /** Whether the lanes of locks include those that no thread waited to get. */
  all: boolean;
  /** The kind of waits selected in the statistics, after the state that counts it: parked.queue; empty: none. */
  kind: string;
  /** The threads and classes selected in the monitor statistics. */
  threads: number[];
  classes: string[];
  /** The waits in the second table of callers. */
  waits: Waits;
  /** The table of the critical path. */
  by: By;
  /** The filter of the log: text and operations. */
  query: string;
  what: string[];
  /** The names of the requests that are listed; empty: all. */
  routes: string[];
  /** The list of incidents: its order, its kinds (empty: all), and a part of the name of a lock, a thread or a request. */
  newest: boolean;
  kinds: IncidentKind[];
  about: string;
  /** The names of the folded groups of threads. */
  folded: string[];
  /** The names of the open rows, see rowOf and groups of virtual threads, and that of the selected one. */
  opened: string[];
  virtual: string;
  /** The scroll position of the lanes of threads, in pixels. */
  top: number;
  /** The index of the first lock on the page of locks. */
  skip: number;
  /** The flame graph: its only lock, the frame that fills it, the text to find, and the range that widths show. */
  flame: string;
  frames: string[];
  find: string;
  wide: Measure;
  /** The session and the range that the shown one is compared to; empty: none; null: all of that session, or what was before. */
  before: string;
  beforeRange: Span | null;
  /** How many requests there were before and now; 0: times are per second. */
  requests: [number, number];
  /** What a shared link says about its session, until that is in view. */
  was: Was | null;
}

export const nothing: Shown = {
  session: "",
  tab: "causes",
  view: null,
  range: null,
  follow: true,
  hidden: [],
  arrows: ["handoff", "notify", "notify_all", "join", "interrupt"],
  path: false,
  mode: "bounded",
  pathThread: 0,
  grouping: "none",
  order: "cost",
  sorted: 0,
  filter: noFilter,
  moment: null,
  cast: [],
  thread: 0,
  seq: 0,
  lock: 0,
  all: false,
  kind: "",
  threads: [],
  classes: [],
  waits: "waited",
  by: "parts",
  query: "",
  what: [],
  routes: [],
  newest: false,
  kinds: [],
  about: "",
  folded: [],
  opened: [],
  virtual: "",
  top: 0,
  skip: 0,
  flame: "",
  frames: [],
  find: "",
  wide: "now",
  before: "",
  beforeRange: null,
  requests: [0, 0],
  was: null,
};

function spanText(span: Span): string {
  return `${Math.round(span.from)}-${Math.round(span.to)}`;
}

function parseSpan(text: string | null): Span | null {
  const found = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? "");
  if (!found) return null;
  const span = {from: Number(found[1]), to: Number(found[2])};
  return span.from < span.to ? span : null;
}

function parsePair(text: string | null): [number, number] {
  const found = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? "");
  return found ? [Number(found[1]), Number(found[2])] : [0, 0];
}

/** Numbers in a link: 1-4.7.9-12. */
export function runs(numbers: readonly number[]): string {
  return ids(numbers, ".");
}

/** The most rows that a link opens: the groups of virtual threads of a session, and as many pools. */
const mostOpened = 64;

/** The most threads of an episode that have lanes of their own. */
export const mostCast = 200;

/** The most frames between a lock and the one that fills the graph. */
const mostFrames = 300;

/** The most numbers read from one field: links are untrusted. */
const most = 100_000;

export function parseRuns(text: string): number[] {
  const numbers: number[] = [];
  for (const part of text.split(".")) {
    const found = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part);
    if (!found) continue;
    const last = Number(found[2] ?? found[1]);
    for (let n = Number(found[1]); n <= last && numbers.length < most; n++) numbers.push(n);
  }
  return numbers;
}

/** Writes what differs from the defaults, so that links stay short. */
export function toHash(shown: Shown): string {
  const out = new URLSearchParams();
  const put = (key: string, value: string) => {
    if (value !== "") out.set(key, value);
  };
  put("s", shown.session);
  if (shown.session || shown.moment || shown.tab !== nothing.tab) put("tab", shown.tab);
  if (shown.view) put("view", spanText(shown.view));
  if (shown.range) put("range", spanText(shown.range));
  if (!shown.follow) put("follow", "0");
  put("hide", shown.hidden.join("."));
  const arrows = arrowKinds.filter((kind) => shown.arrows.includes(kind)).join(".");
  if (arrows !== arrowKinds.filter((kind) => nothing.arrows.includes(kind)).join(".")) put("arrows", arrows || "none");
  if (shown.path) put("path", shown.mode);
  else if (shown.mode !== nothing.mode) put("mode", shown.mode);
  if (shown.pathThread) put("of", String(shown.pathThread));
  if (shown.grouping !== "none") put("group", shown.grouping);
  if (shown.order !== nothing.order) put("order", shown.order);
  const {filter} = shown;
  if (filter.only) put("only", runs(filter.only) || "none");
  put("name", filter.pattern);
  put("just", (["contended", "platform", "alive"] as const).filter((name) => filter[name]).join("."));
  if (shown.moment) {
    put("time", String(shown.moment.time));
    put("length", String(shown.moment.length));
    put("thread", String(shown.moment.thread));
  }
  put("cast", shown.cast.join("."));
  if (shown.thread) put("at", `${shown.thread}.${shown.seq}`);
  if (shown.lock) put("lock", String(shown.lock));
  if (shown.all) put("all", "1");
  put("kind", shown.kind);
  put("threads", runs(shown.threads));
  for (const name of shown.classes) out.append("class", name);
  if (shown.waits !== nothing.waits) put("waits", shown.waits);
  if (shown.by !== nothing.by) put("by", shown.by);
  put("q", shown.query);
  put("what", shown.what.join("."));
  for (const name of shown.routes) out.append("route", name);
  if (shown.newest) put("newest", "1");
  put("kinds", shown.kinds.join("."));
  put("about", shown.about);
  for (const name of shown.folded) out.append("fold", name);
  for (const name of shown.opened) out.append("open", name);
  put("virtual", shown.virtual);
  if (shown.top) put("top", String(Math.round(shown.top)));
  if (shown.skip) put("skip", String(shown.skip));
  put("flame", shown.flame);
  for (const name of shown.frames) out.append("frame", name);
  put("find", shown.find);
  if (shown.wide !== nothing.wide) put("wide", shown.wide);
  put("before", shown.before);
  if (shown.beforeRange) put("beforerange", spanText(shown.beforeRange));
  if (shown.requests.some((n) => n > 0)) put("requests", shown.requests.join("-"));
  if (shown.was) putWas(out, shown.was);
  return out.toString();
}

function oneOf<T extends string>(all: readonly T[], text: string | null, otherwise: T): T {
  return all.includes(text as T) ? (text as T) : otherwise;
}

function getFilter(query: URLSearchParams): Filter {
  const only = query.get("only");
  const just = (query.get("just") ?? "").split(".");
  return {
    only: only === null ? null : parseRuns(only),
    pattern: query.get("name") ?? "",
    contended: just.includes("contended"),
    platform: just.includes("platform"),
    alive: just.includes("alive"),
  };
}

/** Reads any text; invalid fields keep their defaults. */
export function fromHash(text: string): Shown {
  const query = new URLSearchParams(text.replace(/^#/, ""));
  const list = <T extends string>(key: string, all: readonly T[]) =>
    (query.get(key) ?? "").split(".").filter((name): name is T => all.includes(name as T));
  const whole = (key: string) => Number(/^\d{1,16}$/.exec(query.get(key) ?? "")?.[0] ?? 0);
  const path = query.get("path");
  const [thread = 0, seq = 0] =
    /^(\d{1,15})\.(\d{1,10})$/
      .exec(query.get("at") ?? "")
      ?.slice(1)
      .map(Number) ?? [];
  return {
    session: query.get("s") ?? "",
    // Links to a session without a tab, such as those in traces, lead to the lanes.
    tab: oneOf(tabs, query.get("tab"), query.has("s") || query.has("time") ? "threads" : nothing.tab),
    view: parseSpan(query.get("view")),
    range: parseSpan(query.get("range")),
    follow: query.get("follow") !== "0",
    hidden: list("hide", states),
    arrows: query.has("arrows") ? list("arrows", arrowKinds) : nothing.arrows,
    path: path !== null,
    mode: oneOf(["bounded", "unbounded"], path ?? query.get("mode"), nothing.mode),
    pathThread: whole("of"),
    grouping: oneOf(["none", "group", "pool"], query.get("group"), "none"),
    order: oneOf(orders, query.get("order"), nothing.order),
    sorted: 0,
    filter: getFilter(query),
    moment: whole("time") ? {time: whole("time"), length: whole("length"), thread: whole("thread")} : null,
    cast: parseRuns(query.get("cast") ?? "").slice(0, mostCast),
    thread,
    seq,
    lock: whole("lock"),
    all: query.get("all") === "1",
    kind: /^[a-z]+\.[a-z]+$/.exec(query.get("kind") ?? "")?.[0] ?? "",
    threads: parseRuns(query.get("threads") ?? ""),
    classes: query.getAll("class"),
    waits: oneOf(waits, query.get("waits"), nothing.waits),
    by: oneOf(pathTables, query.get("by"), nothing.by),
    query: query.get("q") ?? "",
    what: list("what", operations),
    routes: query.getAll("route").slice(0, mostOpened),
    newest: query.get("newest") === "1",
    kinds: list("kinds", incidentKinds),
    about: query.get("about") ?? "",
    folded: query.getAll("fold"),
    opened: query.getAll("open").slice(0, mostOpened),
    virtual: query.get("virtual") ?? "",
    top: whole("top"),
    skip: whole("skip"),
    flame: query.get("flame") ?? "",
    frames: query.getAll("frame").slice(0, mostFrames),
    find: query.get("find") ?? "",
    wide: oneOf(["now", "before"], query.get("wide"), nothing.wide),
    before: query.get("before") ?? "",
    beforeRange: parseSpan(query.get("beforerange")),
    requests: parsePair(query.get("requests")),
    was: getWas(query),
  };
}
