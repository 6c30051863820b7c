// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Search for threads, classes, locks and methods.
import type {RefObject} from "preact";
import {useEffect, useRef, useState} from "preact/hooks";
import {address, ask, useLoaded} from "../api";
import {useKnown} from "../known";
import {shortClass, shortMethod} from "../lib/format";
import type {Found, Hit} from "../lib/types";
import {show} from "../store";
import {useEvent, useKeys, useRested} from "../ui/hooks";
import {Icon} from "../ui/Icon";

// The types do not know that a field can control a list without being bound to a datalist.
function combobox(listed: boolean): object {
  return {role: "combobox", "aria-expanded": listed, "aria-autocomplete": "list"};
}

export function Search() {
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const leave = () => {
    setOpen(false);
    input.current?.blur();
  };
  const found = useHits(typed.trim());
  const {hits, fresh} = found;
  const take = (hit: Hit | undefined) => {
    if (!hit) return;
    leave();
    go(hit);
  };
  const setHasty = useHasty(fresh, () => take(hits[0]));
  useSlash(input);
  const onKeyDown = (e: KeyboardEvent) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[e.key];
    if (step) setAt(Math.max(0, Math.min(hits.length - 1, at + step)));
    else if (e.key === "Enter" && fresh) take(hits[at]);
    else if (e.key === "Enter") setHasty(typed.trim() !== "");
    else if (e.key === "Escape") {
      setHasty(false);
      leave();
    } else return;
    e.preventDefault();
  };
  const listed = open && found.loaded;
  const onInput = (text: string) => {
    setTyped(text);
    setHasty(false);
    setOpen(true);
    setAt(0);
  };
  return (
    <div class="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        {...combobox(listed)}
        aria-controls="hits"
        aria-activedescendant={listed && hits[at] ? `hit-${at}` : undefined}
        autoComplete="off"
        aria-label="Search threads, classes, locks and methods"
        placeholder="Search threads, locks, methods"
        value={typed}
        onInput={(e) => onInput(e.currentTarget.value)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <kbd>/</kbd>
      {listed && <Hits {...found} at={at} onTake={take} />}
    </div>
  );
}

function useSlash(input: RefObject<HTMLInputElement | null>): void {
  useKeys(({key}) => {
    if (key === "/") input.current?.focus();
    return key === "/";
  });
}

/** After a quick Enter the first hit is opened once the hits have arrived. */
function useHasty(fresh: boolean, take: () => void): (hasty: boolean) => void {
  const [hasty, setHasty] = useState(false);
  const run = useEvent(take);
  useEffect(() => {
    if (!hasty || !fresh) return;
    setHasty(false);
    run();
  }, [hasty, fresh]);
  return setHasty;
}

/** What the server finds; fresh if that is for the text as it is now. */
function useHits(typed: string) {
  const {session} = useKnown();
  const rested = useRested(typed, 150);
  const url = session && rested !== "" ? address(`sessions/${session.id}/search`, {q: rested, limit: 20}) : null;
  const {data, error} = useLoaded(
    url,
    0,
    async (signal) => ({rested, ...(await ask<Found>(url!, {signal}))}),
    session?.id,
  );
  return {
    hits: data?.hits ?? [],
    more: data?.more ?? false,
    fresh: data?.rested === typed,
    loaded: rested !== "" && (data !== null || error !== null),
    error,
  };
}

function go({kind, text, thread, lock, first}: Hit): void {
  if (kind === "thread" && thread) show({tab: "threads", thread: thread.id, seq: 0});
  else if (kind === "lock" && lock) show({tab: "locks", lock: lock.id});
  else if (kind === "class") show({tab: "monitors", classes: [text], threads: []});
  else if (first) show({tab: "threads", thread: first.thread.id, seq: first.seq, follow: false});
}

interface HitsProps {
  hits: Hit[];
  at: number;
  error: string | null;
  more: boolean;
  onTake: (hit: Hit) => void;
}

function Hits({hits, at, error, more, onTake}: HitsProps) {
  return (
    <ul class="popup hits" id="hits" role="listbox">
      {hits.map((hit, i) => (
        <li
          key={`${hit.kind}${hit.text}${hit.lock?.id ?? hit.thread?.id ?? hit.stack}`}
          role="option"
          id={`hit-${i}`}
          aria-selected={i === at}
        >
          <button
            type="button"
            tabIndex={-1}
            class={i === at ? "chosen" : ""}
            title={hit.text}
            onMouseDown={(e) => e.preventDefault()}
            onClick={() => onTake(hit)}
          >
            <span class="hit-kind">{hit.kind}</span>
            {hit.kind === "method" ? shortMethod(hit.text) : hit.kind === "thread" ? hit.text : shortClass(hit.text)}
          </button>
        </li>
      ))}
      {hits.length === 0 && <li class="hint">{error ?? "No matches"}</li>}
      {more && <li class="hint">More matches exist; keep typing</li>}
    </ul>
  );
}
