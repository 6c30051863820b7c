// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Interactions as a log that a person reads: who, did what, to whom.
import {useEffect, useRef, useState} from "preact/hooks";
import {address, ask, copy} from "../api";
import {goTo, scope, threadsParameter, useKnown} from "../known";
import {count, duration, instant} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Log, Triple} from "../lib/types";
import {operations} from "../lib/words";
import {show} from "../store";
import {Button, Problem} from "../ui/parts";
import {Panel} from "./Monitors";

const most = 20_000;

export function LogView({shown}: {shown: Shown}) {
  const {session, version} = useKnown();
  const [typed, setTyped] = useState(shown.query);
  const [copied, setCopied] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => show({query: typed}), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  const {what} = shown;
  const parameters = session
    ? {...scope(shown), threads: threadsParameter(shown.threads), what: what.join(","), q: shown.query}
    : {};
  const url = session ? address(`sessions/${session.id}/log`, {...parameters, limit: 500}) : "";
  const {lines, more, error, loading, next} = useLines(url, shown.follow ? version : 0);
  const copyAll = async () => {
    await copy(lines.map(({text}) => text).join("\n"));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const onScroll = () => {
    const {scrollTop, scrollHeight, clientHeight} = box.current!;
    if (scrollTop + clientHeight > scrollHeight - 600) next();
  };
  return (
    <div class="log-view">
      <div class="toolbar">
        <label class="field grow">
          <span class="visually-hidden">Filter lines</span>
          <input
            type="search"
            placeholder="Filter: a thread, an operation, a lock"
            value={typed}
            onInput={(e) => setTyped(e.currentTarget.value)}
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
              onClick={() => show({what: what.includes(kind) ? what.filter((one) => one !== kind) : [...what, kind]})}
            >
              {kind}
            </button>
          ))}
        </fieldset>
      </div>
      <Problem text={error} />
      <Panel
        title="Interactions"
        hint={`${count(lines.length)} lines${more ? " so far" : ""}`}
        table="log"
        parameters={parameters}
        extra={
          <Button
            icon="copy"
            label="Copy all lines that are shown"
            text={copied ? "Copied" : "Copy"}
            onClick={() => void copyAll()}
          />
        }
      >
        {/* Lines are text that can be marked and copied as it stands. */}
        <div class="log" ref={box} onScroll={onScroll} role="log" aria-label="Interactions" tabIndex={0}>
          {lines.map((line, i) => (
            <div class="line" key={`${line.time}.${i}`}>
              <button
                type="button"
                class="link time"
                title="Show it in the visualizer"
                onClick={() => goTo(line.target.id, line.seq)}
              >
                {instant(line.time, 1e3)}
              </button>
              <span class="who">{line.thread.name}</span>
              <span class={`what what-${line.what}`}>{line.what}</span>
              <span class="who">{line.target.name}</span>
              {line.lock && <span class="faint">{line.lock.class}</span>}
              {line.active >= 0 && <span class="faint">active {duration(line.active)}</span>}
            </div>
          ))}
          {lines.length === 0 && !loading && <div class="empty">No interaction fits.</div>}
        </div>
      </Panel>
    </div>
  );
}

/**
 * The lines of the log, as far as they were asked for. What comes while a session lives comes at the end: only the last
 * page is asked for again, and nothing moves that is being read.
 */
function useLines(url: string, version: number) {
  const [got, setGot] = useState({lines: [] as Triple[], more: false, loading: true, error: null as string | null});
  const begun = {url: "", version: -1, last: "", start: 0, next: "", count: 0, busy: false};
  const at = useRef({...begun, abort: new AbortController()});
  const latest = useRef(version);
  latest.current = version;
  const load = (cursor: string, start: number) => {
    const now = at.current;
    now.abort.abort();
    now.abort = new AbortController();
    now.busy = true;
    now.version = latest.current;
    const {signal} = now.abort;
    setGot((old) => ({...old, loading: true}));
    ask<Log>(cursor === "" ? url : `${url}&cursor=${encodeURIComponent(cursor)}`, {signal}).then(
      (log) => {
        if (signal.aborted) return;
        Object.assign(now, {busy: false, last: cursor, start, next: log.cursor, count: start + log.lines.length});
        setGot(({lines}) => ({
          lines: [...lines.slice(0, start), ...log.lines],
          more: log.cursor !== "",
          loading: false,
          error: null,
        }));
        if (log.cursor === "" && now.version !== latest.current) load(cursor, start);
      },
      (failure: Error) => {
        if (signal.aborted) return;
        now.busy = false;
        setGot((old) => ({...old, loading: false, error: failure.message}));
      },
    );
  };
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
