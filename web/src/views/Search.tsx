// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Search for threads, classes, locks and methods; a hit leads there.
import {useEffect, useRef, useState} from "preact/hooks";
import {address, ask, useLoaded} from "../api";
import {useKnown} from "../known";
import {shortClass, shortMethod} from "../lib/format";
import type {Found, Hit} from "../lib/types";
import {show} from "../store";
import {Icon} from "../ui/Icon";

// What the types do not know: a field can lead a list without being bound to a datalist.
function combobox(listed: boolean): object {
  return {role: "combobox", "aria-expanded": listed, "aria-autocomplete": "list"};
}

export function Search() {
  const {session} = useKnown();
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), 150);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (e.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      e.preventDefault();
      input.current?.focus();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
  const url = session && asked !== "" ? address(`sessions/${session.id}/search`, {q: asked, limit: 20}) : null;
  const {data, error} = useLoaded(
    url,
    0,
    async (signal) => ({asked, ...(await ask<Found>(url!, {signal}))}),
    session?.id,
  );
  const hits = data?.hits ?? [];
  const take = (hit: Hit | undefined) => {
    if (!hit) return;
    setOpen(false);
    input.current?.blur();
    if (hit.kind === "thread" && hit.thread) show({tab: "threads", thread: hit.thread.id, seq: 0});
    else if (hit.kind === "lock" && hit.lock) show({tab: "locks", lock: hit.lock.id});
    else if (hit.kind === "class") show({tab: "monitors", classes: [hit.text], threads: []});
    else if (hit.first) show({tab: "threads", thread: hit.first.thread.id, seq: hit.first.seq, follow: false});
  };
  // Who types fast presses Enter before the hits are there: the first of them is taken as soon as they are.
  const fresh = data !== null && data.asked === typed.trim();
  const [hasty, setHasty] = useState(false);
  useEffect(() => {
    if (!hasty || !fresh) return;
    setHasty(false);
    take(hits[0]);
  }, [hasty, fresh]);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(hits.length - 1, at + 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (e.key === "Enter") {
      if (fresh) take(hits[at]);
      else setHasty(typed.trim() !== "");
    } else if (e.key === "Escape") {
      setHasty(false);
      setOpen(false);
      input.current?.blur();
    } else return;
    e.preventDefault();
  };
  const listed = open && asked !== "" && (data !== null || error !== null);
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
        onInput={(e) => {
          setTyped(e.currentTarget.value);
          setHasty(false);
          setOpen(true);
          setAt(0);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <kbd>/</kbd>
      {listed && (
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
                onClick={() => take(hit)}
              >
                <span class="hit-kind">{hit.kind}</span>
                {hit.kind === "method"
                  ? shortMethod(hit.text)
                  : hit.kind === "thread"
                    ? hit.text
                    : shortClass(hit.text)}
              </button>
            </li>
          ))}
          {hits.length === 0 && <li class="hint">{error ?? "Nothing has this in its name"}</li>}
          {data?.more && <li class="hint">There is more: type more letters</li>}
        </ul>
      )}
    </div>
  );
}
