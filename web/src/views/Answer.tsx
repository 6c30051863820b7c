// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The answer first: which lock costs most, and what fixing it would save.
import type {ComponentChildren} from "preact";
import type {Answer as Loaded} from "../api";
import {type ClassesAnswer, scope, useClasses, useKnown, usePart} from "../known";
import {isLive} from "../lib/deadlocks";
import {duration, extent, instant, percent, shortClass} from "../lib/format";
import type {Shown} from "../lib/link";
import {shorter} from "../lib/scale";
import type {ClassRow, Cost, Answer as CostAnswer, Part, Path, Session} from "../lib/types";
import {show} from "../store";
import {Icon} from "../ui/Icon";
import {Link} from "../ui/parts";

export function Answer({shown, session}: {shown: Shown; session: Session}) {
  const range = scope(shown);
  const answer = usePart<CostAnswer>("answer", range);
  const classes = useClasses({...range, sort: "blocked.time", limit: 20});
  const path = usePart<Path>("path", range);
  const error = answer.error ?? classes.error;
  if (!answer.data || !classes.data) {
    return (
      <section class="answer" aria-label="Answer" aria-busy={error === null}>
        <p class="faint">{error ?? "Looking for what costs the most …"}</p>
      </section>
    );
  }
  const {most, small, text, time} = answer.data;
  if (!most || small) {
    return (
      <section class="answer calm" aria-label="Answer">
        <p>
          <Sentence text={text} cost={most} />
        </p>
        <Range shown={shown} />
      </section>
    );
  }
  const worst = contended.has(most.kind) && classes.data.classes.find((row) => row.class === most.class);
  const busy = classes.pending || (!path.data && !path.error);
  return (
    <section class="answer" aria-label="Answer" aria-busy={busy}>
      <p>
        <Sentence text={text} cost={most} />
        {contended.has(most.kind) && most.time < 0.9 * time && (
          <span class="faint"> It is {percent(most.time / time)} of all waiting for locks, permits and pools.</span>
        )}{" "}
        {worst && (
          <Saving cost={most} worst={worst} classes={classes} path={path} busy={busy} shown={shown} session={session} />
        )}
      </p>
      <Range shown={shown} />
    </section>
  );
}

/** What a sentence is about. */
type Named = Pick<Cost, "name" | "class" | "kind">;

/** What the server says in words. The names of locks show the statistics of the lock's class. */
export function Sentence({text, cost}: {text: Part[]; cost: Named | null}) {
  return (
    <>
      {text.map((part, i) => (
        <Words key={i} part={part} cost={cost} />
      ))}
    </>
  );
}

function Words({part: {text, role}, cost}: {part: Part; cost: Named | null}) {
  if (!role) return <>{text}</>;
  if (role !== "lock" || !cost || text !== cost.name || !contended.has(cost.kind)) return <strong>{text}</strong>;
  return (
    <Link
      class="lock-name"
      title={cost.class}
      onClick={() => show({tab: "monitors", classes: [cost.class], threads: []})}
    >
      {text}
    </Link>
  );
}

/** The kinds of waits for what other threads hold. */
const contended = new Set(["lock", "permit", "pool"]);

interface SavingProps {
  cost: Cost;
  worst: ClassRow;
  classes: ClassesAnswer;
  path: Loaded<Path>;
  busy: boolean;
  shown: Shown;
  session: Session;
}

function Saving({cost, worst, classes, path: {data: path, error}, busy, shown, session}: SavingProps) {
  const thread = path?.thread;
  const length = path ? path.to - path.from : 0;
  const row = useKnown().byId.get(thread?.id ?? 0);
  // A thread that has not ended, such as one of a pool, would not finish earlier; it would not have had to wait.
  const ends = row?.dead ?? false;
  const stuck = session.deadlocks.some(
    (one) => isLive(one) && one.members.some((member) => member.thread.id === thread?.id),
  );
  if (stuck && thread) {
    return (
      <>
        <strong>{thread.name}</strong> is deadlocked and will never finish.
      </>
    );
  }
  // What the cause waited for its own turn says nothing about the others.
  if (!ends && cost.culprit && cost.holders[0]?.thread.id === thread?.id) return null;
  // The path of a short thread, such as one of a request or a shutdown hook, is mostly what happened before it began.
  if (path && (!row || row.to - row.from < length / 2)) return null;
  const saved = gain(worst, ends);
  if (path && !ends && saved < length / 100) return null;
  // The lock with the longest waits is not always the one that holds up the path.
  const rows = classes.data?.classes ?? [];
  const better = rows.reduce((best, row) => (gain(row, ends) > gain(best, ends) ? row : best), worst);
  return (
    <>
      {saved > 0 && path ? (
        <Earlier path={path} saved={saved} most={(ends && worst.saving?.bound) || 0} ends={ends} />
      ) : (
        <NoSaving refused={classes.noSavings ?? error} busy={busy} thread={thread?.name}>
          <Link onClick={() => show({range: shorter(session, shown.range)})}>shorter range</Link>
        </NoSaving>
      )}
      {path && gain(better, ends) > Math.max(saved, length / 100) && (
        <>
          {" "}
          <ClassName name={better.class} /> would save more: {duration(gain(better, ends))}.
        </>
      )}
    </>
  );
}

// Waits for another process, such as for a response, are not known as waits: a thread at a socket is runnable. Small savings say so.
function Earlier({path, saved, most, ends}: {path: Path; saved: number; most: number; ends: boolean}) {
  const length = path.to - path.from;
  const little = Math.max(saved, most) < length / 100;
  const unsure = most > 2 * saved;
  return (
    <>
      Without this, <strong>{path.thread.name}</strong> would {ends ? "finish" : "have waited"} {little && "only "}
      <Link class="saving" onClick={() => show({tab: "path"})}>
        {duration(saved)}
        {unsure && ` to ${duration(most)}`} {ends ? "earlier" : "less"}
      </Link>
      {length > 0 && (
        <span
          class="faint"
          title="The estimate keeps the order of all other locks. The maximum is how long waits for this one are on the path."
        >
          {" "}
          (of {duration(length)}
          {little && "; waits on sockets are not counted"})
        </span>
      )}
      .
    </>
  );
}

/** Why fixing the lock saves nothing, or why the saving is unknown. */
function NoSaving(props: {
  refused: string | null;
  busy: boolean;
  thread: string | undefined;
  children: ComponentChildren;
}) {
  const {refused, busy, thread, children} = props;
  return (
    <span class="faint" title={refused ?? ""}>
      {refused ? (
        <>To see what fixing it would save, select a {children}.</>
      ) : (
        !busy && `It is not on the critical path of ${thread ?? "any thread"}. Waits on sockets are not counted.`
      )}
    </span>
  );
}

function gain({saving}: ClassRow, ends: boolean): number {
  return (ends ? saving?.drag : saving?.waited) ?? 0;
}

function ClassName({name}: {name: string}) {
  return (
    <Link class="lock-name" title={name} onClick={() => show({tab: "monitors", classes: [name], threads: []})}>
      {shortClass(name)}
    </Link>
  );
}

function Range({shown: {range, tab}}: {shown: Shown}) {
  const {session} = useKnown();
  const ruler = tab === "threads" || tab === "locks";
  if (!range) {
    return (
      <span class="hint">
        {extent(session)}
        {ruler && "; drag on the ruler to select a range"}
      </span>
    );
  }
  const step = (range.to - range.from) / 1000;
  return (
    <span class="range-chip">
      range {instant(range.from, step)} – {instant(range.to, step)} ({duration(range.to - range.from)})
      <button
        type="button"
        aria-label="Clear the range"
        title="Show the whole session again"
        onClick={() => show({range: null})}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}
