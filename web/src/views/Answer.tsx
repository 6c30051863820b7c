// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The answer first: which lock costs most, and what fixing it would save.
import type {ComponentChildren} from "preact";
import {address, useAnswer} from "../api";
import {scope, useClasses, useKnown} from "../known";
import {count, duration, instant, percent, shortClass, shortMethod} from "../lib/format";
import type {Shown} from "../lib/link";
import {shorter} from "../lib/scale";
import type {Callers, ClassRow, Path, Session} from "../lib/types";
import {show} from "../store";
import {Icon} from "../ui/Icon";

export function Answer({shown}: {shown: Shown}) {
  const {session, version} = useKnown();
  const range = scope(shown);
  const base = session ? `sessions/${session.id}` : "";
  const classes = useClasses({...range, sort: "blocked.time", limit: 20});
  const path = useAnswer<Path>(
    session ? address(`${base}/path`, {from: shown.range?.from, to: shown.range?.to}) : null,
    version,
  );
  const rows = classes.data?.classes ?? [];
  const worst = rows.find((row) => row.class !== "" && row.blocked.time > 0);
  // The lock that is waited for longest is not always the one that holds up the path.
  const better = rows.reduce<ClassRow | undefined>((best, row) => (drag(row) > drag(best) ? row : best), worst);
  const name = worst?.class ?? "";
  const blocked = worst !== undefined;
  const site = useAnswer<Callers>(
    session && blocked
      ? address(`${base}/callers`, {...range, class: [name], kind: "blocked", sort: "stats.time", limit: 1})
      : null,
    version,
  );
  if (!session || !classes.data) {
    return (
      <div class="answer" aria-busy={classes.error === null}>
        <p class="faint">{classes.error ?? "Looking for the lock that costs most …"}</p>
      </div>
    );
  }
  if (!worst || !blocked) {
    const waited = rows.reduce((sum, row) => sum + row.waited.time, 0);
    return (
      <div class="answer calm">
        <p>
          <strong>No thread had to wait for a lock</strong> {shown.range ? "in this range" : "so far"}
          {waited > 0 ? <>. Threads waited for work or for each other for {duration(waited)} in all.</> : "."}
        </p>
        <Range shown={shown} />
      </div>
    );
  }
  const all = classes.data.sum.blocked.time;
  const caller = site.data?.callers[0];
  const saved = worst.saving?.drag ?? 0;
  const length = path.data ? path.data.to - path.data.from : 0;
  const refused = classes.noSavings ?? path.error;
  const whose = path.data?.thread;
  const stuck = session.deadlocks.some(({members}) => members.some(({thread}) => thread.id === whose?.id));
  const busy = classes.pending || (!path.data && !path.error);
  return (
    <div class="answer" aria-busy={busy || (!site.data && !site.error)}>
      <p>
        <ClassName name={name} /> costs most: threads were blocked on it for{" "}
        <strong>{duration(worst.blocked.time)}</strong>
        {all > 0 && <span class="faint"> ({percent(worst.blocked.time / all)} of all)</span>},{" "}
        {count(worst.blocked.count)} times
        {caller?.method && (
          <>
            , mostly in <strong title={caller.method}>{shortMethod(caller.method)}</strong>
          </>
        )}
        .{" "}
        {stuck && whose ? (
          <>
            <strong>{whose.name}</strong> is deadlocked: it will never be done.
          </>
        ) : saved > 0 && path.data ? (
          <>
            Without that, <strong>{path.data.thread.name}</strong> would be done{" "}
            <button type="button" class="saving" onClick={() => show({tab: "path"})}>
              {duration(saved)} earlier
            </button>
            {length > 0 && <span class="faint"> (of {duration(length)})</span>}.
          </>
        ) : (
          <span class="faint" title={refused ?? ""}>
            {refused ? (
              <>
                What fixing it would save is told for a{" "}
                <button type="button" class="link" onClick={() => show({range: shorter(session, shown.range)})}>
                  shorter range
                </button>
                .
              </>
            ) : (
              !busy && "It does not lie on the critical path: fixing it alone would save nothing yet."
            )}
          </span>
        )}
        {better && !stuck && drag(better) > saved && (
          <>
            {" "}
            <ClassName name={better.class} /> would save more: {duration(drag(better))}.
          </>
        )}
      </p>
      <Range shown={shown} />
    </div>
  );
}

function drag(row: ClassRow | undefined): number {
  return row?.saving?.drag ?? 0;
}

function ClassName({name}: {name: string}) {
  return (
    <button
      type="button"
      class="lock-name"
      title={name}
      onClick={() => show({tab: "monitors", classes: [name], threads: []})}
    >
      {shortClass(name)}
    </button>
  );
}

function Range({shown}: {shown: Shown}) {
  const {range} = shown;
  if (!range) return <span class="hint">all of the session; drag over the ruler to choose a range</span>;
  const step = (range.to - range.from) / 1000;
  return (
    <span class="range-chip">
      range {instant(range.from, step)} – {instant(range.to, step)} ({duration(range.to - range.from)})
      <button
        type="button"
        aria-label="Drop the range"
        title="Count all of the session again"
        onClick={() => show({range: null})}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}

/** What nobody may overlook. */
export function Banners({session, error}: {session: Session | null; error: string | null}) {
  const list: ComponentChildren[] = [];
  if (error) {
    list.push(
      <p class="banner warn" role="alert" key="error">
        <Icon name="warn" />
        {error}
      </p>,
    );
  }
  session?.deadlocks.slice(0, 3).forEach((deadlock) => {
    const first = deadlock.members[0];
    list.push(
      <p class="banner bad" role="alert" key={deadlock.id}>
        <Icon name="warn" />
        <span>
          <strong>Deadlock</strong> since {instant(deadlock.since)}:{" "}
          {deadlock.members.map((member, i) => (
            <span key={member.thread.id}>
              {i > 0 && " → "}
              <button
                type="button"
                class="link"
                onClick={() => show({tab: "threads", thread: member.thread.id, seq: 0})}
              >
                {member.thread.name}
              </button>{" "}
              wants {shortClass(member.lock.class)}
              {member.lock.hash && `@${member.lock.hash}`}
            </span>
          ))}
          {first && <> → {first.thread.name}. They will never go on.</>}
        </span>
      </p>,
    );
  });
  if (session && session.lost + session.missed > 0) {
    list.push(
      <p class="banner warn" key="lost">
        <Icon name="warn" />
        {count(session.lost + session.missed)} events were lost: where that happened states are unknown and marked.
      </p>,
    );
  }
  return list.length === 0 ? null : <div class="banners">{list}</div>;
}
