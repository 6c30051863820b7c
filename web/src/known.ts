// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the page knows about the server, kept up to date while sessions are live.
import {createContext} from "preact";
import {useCallback, useContext, useEffect, useMemo, useRef, useState} from "preact/hooks";
import {type Answer, address, ask, askAll, Failure, type Parameters, useAnswer, useLoaded} from "./api";
import {ids} from "./lib/lanes";
import {resolve, type Shown} from "./lib/link";
import {costOf, mostMembers} from "./lib/rows";
import type {Span} from "./lib/scale";
import type {
  Change,
  Classes,
  Info,
  Interval,
  Session,
  Sessions,
  ThreadRow,
  Threads,
  Virtual,
  VirtualGroup,
} from "./lib/types";
import {now, show, showSession} from "./store";

export interface Known {
  info: Info | null;
  sessions: Session[] | null;
  /** How many sessions the server has; the list may hold fewer. */
  allSessions: number;
  moreSessions: () => void;
  session: Session | null;
  /** The threads of the session that are listed, with sums over the range: of virtual ones, only some. */
  threads: ThreadRow[];
  /** The groups of virtual threads, with sums over the range. */
  groups: VirtualGroup[];
  byId: ReadonlyMap<number, ThreadRow>;
  /** The threads that the link names and the list lacks, once the server answered. Those not in `byId` are not in the session. */
  asked: ReadonlySet<number>;
  /** The range of the sums; it follows the selected one once they are loaded. */
  summed: Span | null;
  allThreads: number;
  /** Increases while the session is live and followed; a new version means that data has to be loaded again. */
  version: number;
  error: string | null;
  reload: () => void;
}

export const KnownContext = createContext<Known | null>(null);

export function useKnown(): Known {
  return useContext(KnownContext)!;
}

/** Loads a part of the session; null parameters load nothing. With liveOnly an ended session is loaded only once. */
export function usePart<T>(part: string, parameters: Parameters | null, liveOnly = false): Answer<T> {
  const {session, version} = useKnown();
  const url = session && parameters && address(`sessions/${session.id}/${part}`, parameters);
  return useAnswer<T>(url, liveOnly && !session?.live ? 0 : version);
}

/** The limit of listed threads; the search of the server finds the others. */
export const mostThreads = 5000;

/** The least time between two loads of the tables of a live session, in milliseconds. */
const pause = 1500;

/** The parameters that limit tables to the selected range. */
export function scope({range}: Pick<Shown, "range">): Parameters {
  return {from: range?.from, to: range?.to};
}

export function threadsParameter(threads: readonly number[]): string | undefined {
  return threads.length === 0 ? undefined : ids(threads);
}

export function useServer(shown: Shown): Known {
  const info = useAnswer<Info>(address("info"));
  const [sessions, setSessions] = useState<Session[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [allSessions, setAllSessions] = useState(0);
  // A new object reloads the list.
  const [request, setRequest] = useState({most: sessionsPage});
  useEffect(() => {
    const abort = new AbortController();
    askSessions(request.most, abort.signal).then(
      ({rows, total}) => {
        setSessions(rows);
        setAllSessions(total);
        setError(null);
        const first = rows[0]; // the newest live session, if there is one
        if (first && now().session === "") show({session: first.id});
      },
      (failure: Error) => {
        if (!abort.signal.aborted) setError(failure.message);
      },
    );
    return () => abort.abort();
  }, [request]);
  const moreSessions = () => {
    const {most} = request;
    if (sessions && sessions.length >= most && most < allSessions) setRequest({most: most + sessionsPage});
  };
  const reload = useCallback(() => setRequest((old) => ({...old})), []);
  useChanges(setSessions, reload, setError);

  const session = useChosen(sessions, allSessions, shown.session);
  const version = useFollowed(session, shown.follow);
  const id = session?.id ?? "";
  const list = useLoaded(
    session ? `${id} ${JSON.stringify(scope(shown))}` : null,
    version,
    (signal) => askListed(id, shown.range, session?.platform_threads ?? 0, signal),
    id,
  );
  const groups = list.data?.groups ?? noGroups;
  const members = useMembers(id, shown, list.data, version);
  const {asked} = members.data ?? noMembers;
  const threads = useThreads(list.data?.platform ?? none, members.data ?? noMembers);
  const byId = useMemo(() => new Map(threads.map((thread) => [thread.id, thread])), [threads]);
  return {
    info: info.data,
    sessions,
    allSessions,
    moreSessions,
    session,
    threads,
    groups,
    byId,
    asked,
    summed: list.data?.range ?? null,
    allThreads: list.data?.total ?? 0,
    version,
    error: error ?? info.error ?? list.error ?? members.error,
    reload,
  };
}

const none: ThreadRow[] = [];
const noGroups: VirtualGroup[] = [];

interface Listed {
  range: Span | null;
  total: number;
  platform: ThreadRow[];
  groups: VirtualGroup[];
}

/** Loads the platform threads and the groups of virtual threads. */
async function askListed(id: string, range: Span | null, expected: number, signal: AbortSignal): Promise<Listed> {
  const part = scope({range});
  const platform = (offset: number, limit: number) =>
    address(`sessions/${id}/threads`, {...part, only: "platform", sort: "blocked.time", offset, limit});
  const sizes = {page: 200, expected, most: mostThreads};
  const [{rows, total}, {groups}] = await Promise.all([
    askAll<Threads, ThreadRow>(platform, (answer) => answer.threads, sizes, signal),
    ask<Virtual>(address(`sessions/${id}/virtual`, part), {signal}),
  ]);
  return {range, total: groups.reduce((sum, {threads}) => sum + threads, total), platform: rows, groups};
}

/** Loads some virtual threads with their sums over the range. Those of a group are the costliest in a part of time of its own. */
async function askMembers(id: string, part: Parameters, range: Span | null, signal: AbortSignal): Promise<ThreadRow[]> {
  const sizes = {page: mostMembers, expected: mostMembers, most: mostMembers};
  const load = async (parameters: Parameters) => {
    const url = (offset: number, limit: number) => address(`sessions/${id}/threads`, {...parameters, offset, limit});
    return (await askAll<Threads, ThreadRow>(url, (answer) => answer.threads, sizes, signal)).rows;
  };
  const rows = await load({...scope({range}), ...part});
  if (part.from === undefined || (part.from === range?.from && part.to === range?.to)) return rows;
  const there = rows.filter(({time}) => time > 0).map((row) => row.id);
  if (there.length === 0) return [];
  const sums = new Map((await load({...scope({range}), threads: ids(there)})).map((row) => [row.id, row]));
  return there.map((one) => sums.get(one)).filter((row) => row !== undefined);
}

interface Members {
  rows: ThreadRow[];
  /** The threads that were requested by ID. Those without a row are not in the session. */
  asked: ReadonlySet<number>;
}

const noMembers: Members = {rows: none, asked: new Set()};

/** Loads the virtual threads that have lanes, the costliest of all for the tables, and threads of the link that are not listed. */
function useMembers(id: string, shown: Shown, list: Listed | null, version: number): Answer<Members> {
  const {opened, thread, filter, range, view, cast} = shown;
  const wanted = useMemo(() => {
    if (!list) return null;
    const known = new Set(list.platform.map((one) => one.id));
    const asked = [...(filter.only ?? []), ...cast, thread].filter((one) => one > 0 && !known.has(one));
    const parts: Parameters[] = [];
    const sight = range ?? view;
    for (const group of list.groups) {
      if (opened.includes(group.name))
        parts.push({virtual_group: [group.name], sort: costOf(group).sort, ...scope({range: sight})});
    }
    // A thread that started after the list was loaded may be a platform thread.
    if (asked.length > 0) parts.push({threads: ids(asked.slice(-mostMembers))});
    if (list.groups.length > 0) parts.push({only: "virtual", sort: "blocked.time"});
    return parts.length > 0 ? {parts, range, asked} : null;
  }, [list, opened, thread, filter.only, cast, range, view]);
  return useLoaded(
    wanted && `${id} ${JSON.stringify(wanted)}`,
    version,
    async (signal) => {
      const {parts, range, asked} = wanted!;
      const loaded = await Promise.all(parts.map((part) => askMembers(id, part, range, signal)));
      // Those of open groups come first, in the order of their costs.
      const rows = [...new Map(loaded.flat().map((row) => [row.id, row])).values()];
      return {rows, asked: new Set(asked)};
    },
    id,
  );
}

/** All threads that have rows. */
function useThreads(platform: ThreadRow[], {rows}: Members): ThreadRow[] {
  return useMemo(() => {
    const known = new Set(platform.map((one) => one.id));
    return [...platform, ...rows.filter((one) => !known.has(one.id))];
  }, [platform, rows]);
}

/** How many sessions are listed at first, and each time the end of the list comes into sight. */
const sessionsPage = 100;

function askSessions(most: number, signal: AbortSignal): Promise<{rows: Session[]; total: number}> {
  const url = (offset: number, limit: number) => address("sessions", {offset, limit});
  const sizes = {page: sessionsPage, expected: most, most};
  return askAll<Sessions, Session>(url, (answer) => answer.sessions, sizes, signal);
}

/** The session in view: one of the list, or one further down that is not loaded yet. */
function useChosen(sessions: Session[] | null, all: number, id: string): Session | null {
  const [other, setOther] = useState<Session | null>(null);
  const gone = useRef(""); // a discarded session, which is not requested again
  const listed = sessions?.find((one) => one.id === id) ?? null;
  const missing = sessions !== null && all > sessions.length && listed === null && id !== "";
  // Whenever the list changes, the session that is missing in it may have changed, too.
  const request = useMemo(() => (missing && sessions ? {id} : null), [missing, sessions, id]);
  useEffect(() => {
    if (!request || gone.current === request.id) return;
    const {id} = request;
    const abort = new AbortController();
    ask<Session>(address(`sessions/${id}`), {signal: abort.signal}).then(setOther, (error: Error) => {
      if (abort.signal.aborted || !(error instanceof Failure) || error.status !== 404) return;
      gone.current = id;
      setOther(null);
    });
    return () => abort.abort();
  }, [request]);
  return listed ?? (missing && other?.id === id ? other : null);
}

/** Server-sent events report which sessions advanced; the browser reconnects by itself when the collector is back. */
function useChanges(
  setSessions: (change: (old: Session[] | null) => Session[] | null) => void,
  reload: () => void,
  setError: (error: string | null) => void,
): void {
  useEffect(() => {
    let source: EventSource | null = null;
    const changed = (e: MessageEvent<string>) => {
      const change = JSON.parse(e.data) as Change;
      setError(null);
      setSessions((old) => {
        if (!old) return old; // the list is still loading
        const known = new Map(old.map((one) => [one.id, one]));
        const news = change.sessions.some((now) => {
          const before = known.get(now.id);
          if (!before || before.live !== now.live || before.deadlocks.length !== now.deadlocks) return true;
          return before.deadlocks.filter(({until}) => until > 0).length !== now.ended;
        });
        if (change.reset || news) setTimeout(reload, 0);
        return old.map((one) => ({...one, ...counted(change, one)}));
      });
    };
    // Browsers open at most six connections to a server, for all tabs together: a hidden tab must not keep one.
    const follow = () => {
      if (document.hidden) {
        source?.close();
        source = null;
        return;
      }
      if (source) return;
      const opened = new EventSource(address("events"));
      source = opened;
      opened.addEventListener("change", changed);
      opened.addEventListener("open", () => setError(null));
      opened.addEventListener("error", () => {
        if (opened.readyState !== EventSource.OPEN) setError("The collector does not respond. Is it running?");
        // A refusal is final for an EventSource, but a proxy may refuse only while the collector restarts.
        if (opened.readyState === EventSource.CLOSED && source === opened) {
          source = null;
          setTimeout(follow, 3000);
        }
      });
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      source?.close();
    };
  }, [setSessions, reload, setError]);
}

function counted(change: Change, session: Session): Partial<Session> {
  const found = change.sessions.find(({id}) => id === session.id);
  if (!found) return {};
  const {version, from, to, live, incidents} = found;
  return {version, from, to, live, incidents};
}

/** The version in view: that of the session while it is followed, otherwise that at which it was paused. */
function useFollowed(session: Session | null, follow: boolean): number {
  const [followed, setFollowed] = useState({id: "", version: 0});
  const last = useRef(0);
  const {id = "", version = 0} = session ?? {};
  const another = id !== "" && id !== followed.id;
  useEffect(() => {
    if (id === "" || (!another && (!follow || version === followed.version))) return;
    const next = () => {
      last.current = Date.now();
      setFollowed({id, version});
    };
    if (another) {
      next();
      return;
    }
    const timer = setTimeout(next, Math.max(0, last.current + pause - Date.now()));
    return () => clearTimeout(timer);
  }, [id, version, another, follow, followed]);
  return another ? version : followed.version;
}

export interface ClassesAnswer extends Answer<Classes> {
  /** Why savings are unknown: there are too many intervals for a critical path. */
  noSavings: string | null;
  /** Savings are still loading. */
  pending: boolean;
}

/**
 * The table of lock classes with what fixing each would save. With many intervals the savings take seconds, or the server
 * refuses them; until they arrive the table is shown without.
 */
export function useClasses(parameters: Parameters): ClassesAnswer {
  const whole = usePart<Classes>("classes", {...parameters, savings: true});
  const sort = parameters.sort === "saving.drag" ? "blocked.time" : parameters.sort;
  const plain = usePart<Classes>("classes", whole.data ? null : {...parameters, sort});
  if (whole.data) return {...whole, noSavings: null, pending: false};
  return {...plain, noSavings: whole.error, pending: whole.error === null};
}

/** Shows an interval on the lanes. */
export function goTo(thread: number, seq: number, session?: string): void {
  if (session) showSession(session, "threads");
  show({tab: "threads", thread, seq, follow: false});
}

/** Goes where a link of another program leads, and selects what the thread did there. */
export function useMoment({moment}: Shown, session: Session | null): void {
  useEffect(() => {
    if (!moment || !session) return;
    const {at, view} = resolve(moment, session.origin);
    if (session.evicted > 0 && at < session.from) {
      show({moment: null, tab: "incidents", range: view, follow: false}); // what is left of that time
      return;
    }
    show({moment: null, tab: "threads", view, follow: false});
    if (!moment.thread) return;
    const url = address(`sessions/${session.id}/interval`, {thread: moment.thread, at});
    ask<Interval>(url).then(
      ({seq}) => show({thread: moment.thread, seq}),
      () => {}, // the thread or the time is not in the store: the view shows what is
    );
  }, [moment, session]);
}
