// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Interactions as a log: who did what to whom.
import {useEffect, useRef, useState} from "preact/hooks";
import {address, ask} from "../api";
import {goTo, scope, threadsParameter, useKnown} from "../known";
import {duration, instant, many} from "../lib/format";
import type {Shown} from "../lib/link";
import {toggled} from "../lib/table";
import type {Log, Triple} from "../lib/types";
import {operations} from "../lib/words";
import {show} from "../store";
import {useCopy, useEvent, useTyped} from "../ui/hooks";
import {Button, Link, Problem} from "../ui/parts";
import {Panel} from "./Panel";

const most = 20_000;

interface Lines {
  lines: Triple[];
  more: boolean;
  loading: boolean;
  error: string | null;
}

/** How far the log is loaded: the last page starts at line `start`, and `next` is the cursor of the page after it. */
const begun = {url: "", version: -1, last: "", start: 0, next: "", count: 0, busy: false};

export function LogView({shown}: {shown: Shown}) {
  const {session, version} = useKnown();
  const [copied, copy] = useCopy();
  const box = useRef<HTMLDivElement>(null);
  const parameters = {
    ...scope(shown),
    threads: threadsParameter(shown.threads),
    what: shown.what.join(","),
    q: shown.query,
  };
  const url = session ? address(`sessions/${session.id}/log`, {...parameters, limit: 500}) : "";
  const {lines, more, error, loading, next} = useLines(url, shown.follow ? version : 0);
  const onScroll = () => {
    const {scrollTop, scrollHeight, clientHeight} = box.current!;
    if (scrollTop + clientHeight > scrollHeight - 600) next();
  };
  return (
    <div class="log-view">
      <Filter shown={shown} />
      <Problem text={error} />
      <Panel
        title="Interactions"
        hint={`${many(lines.length, "line")}${more ? " so far" : ""}`}
        table="log"
        parameters={parameters}
        extra={
          <Button
            icon="copy"
            label="Copy all loaded lines"
            text={copied ? "Copied" : "Copy"}
            onClick={() => void copy(lines.map(({text}) => text).join("\n"))}
          />
        }
      >
        {/* Lines are plain text, so that they can be selected and copied. */}
        <div class="log" ref={box} onScroll={onScroll} role="log" aria-label="Interactions" tabIndex={0}>
          {lines.map((line, i) => (
            <Line key={`${line.time}.${i}`} line={line} />
          ))}
          {lines.length === 0 && !loading && <div class="empty">No matching interactions.</div>}
        </div>
      </Panel>
    </div>
  );
}

function Filter({shown: {query, what}}: {shown: Shown}) {
  const [typed, type] = useTyped(query, (query) => show({query}));
  return (
    <div class="toolbar">
      <label class="field grow">
        <span class="visually-hidden">Filter lines</span>
        <input
          type="search"
          placeholder="Filter by thread, operation or lock"
          value={typed}
          onInput={(e) => type(e.currentTarget.value)}
        />
      </label>
      <fieldset class="legend" aria-label="Operations">
        {operations.map((kind) => (
          <button
            type="button"
            class="entry"
            key={kind}
            data-what={kind}
            aria-pressed={what.length === 0 || what.includes(kind)}
            onClick={() => show({what: toggled(what, kind)})}
          >
            {kind}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

function Line({line: {time, seq, thread, what, target, lock, active}}: {line: Triple}) {
  return (
    <div class="line">
      <Link class="link time" title="Show on the lanes" onClick={() => goTo(target.id || thread.id, seq)}>
        {instant(time, 1e3)}
      </Link>
      <span class="who">{thread.name}</span>
      <span class={`what what-${what}`}>{what}</span>
      <span class="who">{target.name}</span>
      {lock && <span class="faint">{lock.class}</span>}
      {active >= 0 && <span class="faint">active {duration(active)}</span>}
    </div>
  );
}

/**
 * Loads the log page by page. A live session only adds lines at the end: the last page alone is loaded again, and nothing
 * moves that is being read.
 */
function useLines(url: string, version: number): Lines & {next: () => void} {
  const [got, setGot] = useState<Lines>({lines: [], more: false, loading: true, error: null});
  const at = useRef({...begun, abort: new AbortController()});
  const load = useEvent((cursor: string, start: number) => {
    const now = at.current;
    now.abort.abort();
    now.abort = new AbortController();
    const {signal} = now.abort;
    Object.assign(now, {busy: true, version});
    setGot((old) => ({...old, loading: true}));
    ask<Log>(cursor === "" ? url : `${url}&cursor=${encodeURIComponent(cursor)}`, {signal}).then(
      (log) => {
        if (!signal.aborted) take(log, cursor, start);
      },
      (failure: Error) => {
        if (signal.aborted) return;
        now.busy = false;
        setGot((old) => ({...old, loading: false, error: failure.message}));
      },
    );
  });
  const take = useEvent((log: Log, cursor: string, start: number) => {
    const now = at.current;
    const more = log.cursor !== "";
    Object.assign(now, {busy: false, last: cursor, start, next: log.cursor, count: start + log.lines.length});
    setGot(({lines}) => ({lines: [...lines.slice(0, start), ...log.lines], more, loading: false, error: null}));
    if (!more && now.version !== version) load(cursor, start);
  });
  useEffect(() => {
    const now = at.current;
    if (url === "") return;
    if (now.url !== url) {
      Object.assign(now, begun, {url});
      load("", 0);
    } else if (!now.busy && now.next === "" && now.version !== version) load(now.last, now.start);
  }, [url, version]);
  useEffect(() => () => at.current.abort.abort(), []);
  const next = () => {
    const {next, count, busy} = at.current;
    if (!busy && next !== "" && count < most) load(next, count);
  };
  return {...got, next};
}
