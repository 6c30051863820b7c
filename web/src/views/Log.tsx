// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Interactions as a log that a person reads: who, did what, to whom.
import {useEffect, useRef, useState} from "preact/hooks";
import {address, ask, copy} from "../api";
import {goTo, scope, threadsParameter, useKnown} from "../known";
import {count, duration, instant} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Log, Triple} from "../lib/types";
import {show} from "../store";
import {Button, Problem} from "../ui/parts";
import {Panel} from "./Monitors";

const kinds = [
  "block",
  "handoff",
  "wait",
  "notify",
  "notifyAll",
  "timeout",
  "join",
  "start",
  "end",
  "interrupt",
  "park",
  "unpark",
  "sleep",
  "deadlock",
];
const most = 20_000;

export function LogView({shown}: {shown: Shown}) {
  const {session, version} = useKnown();
  const [what, setWhat] = useState<string[]>([]);
  const [typed, setTyped] = useState(shown.query);
  const [lines, setLines] = useState<Triple[]>([]);
  const [cursor, setCursor] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [loading, setLoading] = useState(false);
  const [copied, setCopied] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => show({query: typed}), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  const parameters = session
    ? {...scope(shown), threads: threadsParameter(shown.threads), what: what.join(","), q: shown.query}
    : {};
  const url = session ? address(`sessions/${session.id}/log`, {...parameters, limit: 500}) : "";
  const fetchPage = (cursor: string, signal?: AbortSignal) => {
    setLoading(true);
    const page = cursor === "" ? url : `${url}&cursor=${encodeURIComponent(cursor)}`;
    ask<Log>(page, signal ? {signal} : {}).then(
      (log) => {
        setLines((old) => (cursor === "" ? log.lines : [...old, ...log.lines]));
        setCursor(log.cursor);
        setError(null);
        setLoading(false);
      },
      (failure: Error) => {
        if (signal?.aborted) return;
        setError(failure.message);
        setLoading(false);
      },
    );
  };
  useEffect(() => {
    if (url === "") return;
    const abort = new AbortController();
    fetchPage("", abort.signal);
    return () => abort.abort();
  }, [url, shown.follow ? version : 0]);
  const copyAll = async () => {
    await copy(lines.map(({text}) => text).join("\n"));
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const onScroll = () => {
    const {scrollTop, scrollHeight, clientHeight} = box.current!;
    if (!loading && cursor !== "" && lines.length < most && scrollTop + clientHeight > scrollHeight - 600)
      fetchPage(cursor);
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
          {kinds.map((kind) => (
            <button
              type="button"
              class="entry"
              key={kind}
              data-what={kind}
              aria-pressed={what.length === 0 || what.includes(kind)}
              onClick={() => setWhat(what.includes(kind) ? what.filter((one) => one !== kind) : [...what, kind])}
            >
              {kind}
            </button>
          ))}
        </fieldset>
      </div>
      <Problem text={error} />
      <Panel
        title="Interactions"
        hint={`${count(lines.length)} lines${cursor === "" ? "" : " so far"}`}
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
