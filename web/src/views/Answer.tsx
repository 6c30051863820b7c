// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The answer first: which lock costs most, and what fixing it would save.
import type {ComponentChildren} from "preact";
import type {Answer as Loaded} from "../api";
import {type ClassesAnswer, scope, useClasses, usePart} from "../known";
import {count, duration, instant, percent, shortClass, shortMethod} from "../lib/format";
import type {Shown} from "../lib/link";
import {shorter} from "../lib/scale";
import type {Callers, ClassRow, Path, Session} from "../lib/types";
import {show} from "../store";
import {Icon} from "../ui/Icon";
import {Link} from "../ui/parts";

export function Answer({shown, session}: {shown: Shown; session: Session}) {
  const range = scope(shown);
  const classes = useClasses({...range, sort: "blocked.time", limit: 20});
  const path = usePart<Path>("path", range);
  const worst = classes.data?.classes.find((row) => row.class !== "" && row.blocked.time > 0);
  const site = usePart<Callers>(
    "callers",
    worst ? {...range, class: [worst.class], kind: "blocked", sort: "stats.time", limit: 1} : null,
  );
  if (!classes.data) {
    return (
      <div class="answer" aria-busy={classes.error === null}>
        <p class="faint">{classes.error ?? "Looking for the lock that costs the most …"}</p>
      </div>
    );
  }
  const {classes: rows, sum} = classes.data;
  if (!worst) return <Calm rows={rows} shown={shown} />;
  const busy = classes.pending || (!path.data && !path.error);
  const method = site.data?.callers[0]?.method;
  return (
    <div class="answer" aria-busy={busy || (!site.data && !site.error)}>
      <p>
        <ClassName name={worst.class} /> costs the most: threads were blocked on it for{" "}
        <strong>{duration(worst.blocked.time)}</strong>
        {sum.blocked.time > 0 && (
          <span class="faint"> ({percent(worst.blocked.time / sum.blocked.time)} of the total)</span>
        )}
        , {count(worst.blocked.count)} times
        {method && (
          <>
            , mostly in <strong title={method}>{shortMethod(method)}</strong>
          </>
        )}
        . <Saving worst={worst} classes={classes} path={path} busy={busy} shown={shown} session={session} />
      </p>
      <Range shown={shown} />
    </div>
  );
}

function Calm({rows, shown}: {rows: ClassRow[]; shown: Shown}) {
  const waited = rows.reduce((sum, row) => sum + row.waited.time, 0);
  return (
    <div class="answer calm">
      <p>
        <strong>No thread had to wait for a lock</strong> {shown.range ? "in this range" : "so far"}
        {waited > 0 ? <>. Threads waited for work or for each other for {duration(waited)} in total.</> : "."}
      </p>
      <Range shown={shown} />
    </div>
  );
}

interface SavingProps {
  worst: ClassRow;
  classes: ClassesAnswer;
  path: Loaded<Path>;
  busy: boolean;
  shown: Shown;
  session: Session;
}

function Saving({worst, classes, path: {data: path, error}, busy, shown, session}: SavingProps) {
  const thread = path?.thread;
  const stuck = session.deadlocks.some(({members}) => members.some((member) => member.thread.id === thread?.id));
  if (stuck && thread) {
    return (
      <>
        <strong>{thread.name}</strong> is deadlocked and will never finish.
      </>
    );
  }
  const saved = drag(worst);
  // The lock with the longest waits is not always the one that holds up the path.
  const rows = classes.data?.classes ?? [];
  const better = rows.reduce((best, row) => (drag(row) > drag(best) ? row : best), worst);
  return (
    <>
      {saved > 0 && path ? (
        <Earlier path={path} saved={saved} />
      ) : (
        <NoSaving refused={classes.noSavings ?? error} busy={busy}>
          <Link onClick={() => show({range: shorter(session, shown.range)})}>shorter range</Link>
        </NoSaving>
      )}
      {drag(better) > saved && (
        <>
          {" "}
          <ClassName name={better.class} /> would save more: {duration(drag(better))}.
        </>
      )}
    </>
  );
}

function Earlier({path, saved}: {path: Path; saved: number}) {
  return (
    <>
      Without this, <strong>{path.thread.name}</strong> would finish{" "}
      <Link class="saving" onClick={() => show({tab: "path"})}>
        {duration(saved)} earlier
      </Link>
      {path.to > path.from && <span class="faint"> (of {duration(path.to - path.from)})</span>}.
    </>
  );
}

/** Why fixing the lock saves nothing, or why the saving is unknown. */
function NoSaving({refused, busy, children}: {refused: string | null; busy: boolean; children: ComponentChildren}) {
  return (
    <span class="faint" title={refused ?? ""}>
      {refused ? (
        <>To see what fixing it would save, select a {children}.</>
      ) : (
        !busy && "It is not on the critical path: fixing only this lock would not help."
      )}
    </span>
  );
}

function drag(row: ClassRow): number {
  return row.saving?.drag ?? 0;
}

function ClassName({name}: {name: string}) {
  return (
    <Link class="lock-name" title={name} onClick={() => show({tab: "monitors", classes: [name], threads: []})}>
      {shortClass(name)}
    </Link>
  );
}

function Range({shown: {range}}: {shown: Shown}) {
  if (!range) return <span class="hint">whole session; drag on the ruler to select a range</span>;
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
