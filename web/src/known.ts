// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the page knows of the server, and keeps up to date while sessions live.
import {createContext} from "preact";
import {useContext, useEffect, useMemo, useRef, useState} from "preact/hooks";
import {type Answer, address, ask, askAll, Failure, type Parameters, useAnswer, useLoaded} from "./api";
import {ids} from "./lib/lanes";
import type {Shown} from "./lib/link";
import type {Change, Classes, Info, Session, Sessions, ThreadRow, Threads} from "./lib/types";
import {now, show, showSession} from "./store";

export interface Known {
  info: Info | null;
  sessions: Session[] | null;
  /** How many the server remembers: not all of them need to be listed. */
  allSessions: number;
  moreSessions: () => void;
  session: Session | null;
  /** The threads of the session, sums over the range. */
  threads: ThreadRow[];
  byId: ReadonlyMap<number, ThreadRow>;
  allThreads: number;
  /** Rises while the session goes on and is followed: a reason to ask again. */
  version: number;
  error: string | null;
  reload: () => void;
}

export const KnownContext = createContext<Known>({
  info: null,
  sessions: null,
  allSessions: 0,
  moreSessions: () => {},
  session: null,
  threads: [],
  byId: new Map(),
  allThreads: 0,
  version: 0,
  error: null,
  reload: () => {},
});

export function useKnown(): Known {
  return useContext(KnownContext);
}

/** More are not listed: the server's filters find the others. */
export const mostThreads = 5000;

/** Tables of a session that lives are asked for again at most so often. */
const pause = 1500;

/** The parameters that say which part of a session is counted. */
export function scope(shown: Shown): Parameters {
  return {from: shown.range?.from, to: shown.range?.to};
}

export function threadsParameter(threads: readonly number[]): string | undefined {
  return threads.length === 0 ? undefined : ids(threads);
}

export function useServer(shown: Shown): Known {
  const info = useAnswer<Info>(address("info"));
  const [sessions, setSessions] = useState<Session[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [allSessions, setAllSessions] = useState(0);
  const [most, setMost] = useState(sessionsPage);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    askSessions(most, abort.signal).then(
      ({rows, total}) => {
        setSessions(rows);
        setAllSessions(total);
        setError(null);
        const first = rows[0]; // the newest of those that live, if there is one
        if (first && now().session === "") show({session: first.id});
      },
      (failure: Error) => {
        if (!abort.signal.aborted) setError(failure.message);
      },
    );
    return () => abort.abort();
  }, [asked, most]);
  const moreSessions = () => {
    if (sessions && sessions.length >= most && most < allSessions) setMost(most + sessionsPage);
  };
  const reload = useMemo(() => () => setAsked((n) => n + 1), []);
  useChanges(setSessions, reload, setError);

  const session = useChosen(sessions, allSessions, shown.session);
  const version = useFollowed(session, shown.follow);
  const id = session?.id ?? "";
  const list = useLoaded(
    session ? `${id} ${JSON.stringify(scope(shown))}` : null,
    version,
    (signal) => {
      const url = (offset: number, limit: number) =>
        address(`sessions/${id}/threads`, {...scope(shown), sort: "blocked.time", offset, limit});
      const sizes = {page: 200, expected: session?.threads ?? 0, most: mostThreads};
      return askAll<Threads, ThreadRow>(url, (answer) => answer.threads, sizes, signal);
    },
    id,
  );
  const threads = list.data?.rows ?? none;
  const byId = useMemo(() => new Map(threads.map((thread) => [thread.id, thread])), [threads]);
  return {
    info: info.data,
    sessions,
    allSessions,
    moreSessions,
    session,
    threads,
    byId,
    allThreads: list.data?.total ?? 0,
    version,
    error: error ?? info.error ?? list.error,
    reload,
  };
}

const none: ThreadRow[] = [];

/** How many sessions are listed, and how many more when the end of the list comes into sight. */
const sessionsPage = 100;

function askSessions(most: number, signal: AbortSignal): Promise<{rows: Session[]; total: number}> {
  const url = (offset: number, limit: number) => address("sessions", {offset, limit});
  const sizes = {page: sessionsPage, expected: most, most};
  return askAll<Sessions, Session>(url, (answer) => answer.sessions, sizes, signal);
}

/** The session that is shown: one of the list, or one so far behind in it that it was not asked for yet. */
function useChosen(sessions: Session[] | null, all: number, id: string): Session | null {
  const [other, setOther] = useState<Session | null>(null);
  const gone = useRef(""); // one that is no longer remembered: it is not asked for again
  const listed = sessions?.find((one) => one.id === id) ?? null;
  const missing = sessions !== null && all > sessions.length && listed === null && id !== "";
  useEffect(() => {
    if (!missing || gone.current === id) return;
    const abort = new AbortController();
    ask<Session>(address(`sessions/${id}`), {signal: abort.signal}).then(setOther, (error: Error) => {
      if (abort.signal.aborted || !(error instanceof Failure) || error.status !== 404) return;
      gone.current = id;
      setOther(null);
    });
    return () => abort.abort();
  }, [missing, id, sessions]);
  return listed ?? (missing && other?.id === id ? other : null);
}

/** Server-sent events say which sessions went on; the browser comes back by itself when the collector does. */
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
        if (!old) return old; // the list is on its way
        const known = new Map(old.map((one) => [one.id, one]));
        const news = change.sessions.some((now) => {
          const before = known.get(now.id);
          return !before || before.live !== now.live || before.deadlocks.length !== now.deadlocks;
        });
        if (change.reset || news) setTimeout(reload, 0);
        return old.map((one) => ({...one, ...counted(change, one)}));
      });
    };
    // Browsers open six connections to a server at most, for all tabs: one that nobody looks at must not keep one.
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
        if (opened.readyState !== EventSource.OPEN) setError("The collector does not answer. Is it still running?");
        // A refusal is final for an EventSource, but not for us: a proxy may say no while the collector starts again.
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
  }, []);
}

function counted(change: Change, session: Session): Partial<Session> {
  const found = change.sessions.find(({id}) => id === session.id);
  return found ? {version: found.version, from: found.from, to: found.to, live: found.live} : {};
}

/** The version that is shown: that of the session while it is followed, and else the one at which it was paused. */
function useFollowed(session: Session | null, follow: boolean): number {
  const [followed, setFollowed] = useState({id: "", version: 0});
  const last = useRef(0);
  const another = session !== null && session.id !== followed.id;
  useEffect(() => {
    if (!session || (!another && (!follow || session.version === followed.version))) return;
    const next = () => {
      last.current = Date.now();
      setFollowed({id: session.id, version: session.version});
    };
    if (another) {
      next();
      return;
    }
    const timer = setTimeout(next, Math.max(0, last.current + pause - Date.now()));
    return () => clearTimeout(timer);
  }, [session?.id, session?.version, follow, followed]);
  return another ? session.version : followed.version;
}

export interface ClassesAnswer extends Answer<Classes> {
  /** Why the server does not tell what would be saved: there are too many intervals to find a path through. */
  noSavings: string | null;
  /** What would be saved is not known yet. */
  pending: boolean;
}

/**
 * The table of classes with what each would save. Among many intervals that takes seconds, and can be refused: until it is
 * there the table is shown without.
 */
export function useClasses(parameters: Parameters): ClassesAnswer {
  const {session, version} = useKnown();
  const path = session ? `sessions/${session.id}/classes` : "";
  const whole = useAnswer<Classes>(path && address(path, {...parameters, savings: true}), version);
  const sort = parameters.sort === "saving.drag" ? "blocked.time" : parameters.sort;
  const plain = useAnswer<Classes>(path && !whole.data ? address(path, {...parameters, sort}) : null, version);
  if (whole.data) return {...whole, noSavings: null, pending: false};
  return {...plain, noSavings: whole.error, pending: whole.error === null};
}

/** Leads to an interval: the visualizer, with it in sight. */
export function goTo(thread: number, seq: number, session?: string): void {
  if (session) showSession(session, "threads");
  show({tab: "threads", thread, seq, follow: false});
}
