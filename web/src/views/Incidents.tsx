// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What happened, when, and what it cost: the incidents that are kept, also when the timeline of their time is not.
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import {address, ask, useLoaded} from "../api";
import {scope, useKnown} from "../known";
import {count, duration, many, timeOfDay} from "../lib/format";
import type {Shown} from "../lib/link";
import {toggled} from "../lib/table";
import type {Incident, Incidents, Session} from "../lib/types";
import {type IncidentKind, incidentHelp} from "../lib/words";
import {show} from "../store";
import {useEvent, useKeys, useTyped} from "../ui/hooks";
import {Button, Empty, Problem} from "../ui/parts";
import {isEmptied} from "./Emptied";
import {Kind, Row} from "./Incident";
import {began} from "./Sessions";

export function IncidentsView({shown}: {shown: Shown}) {
  const {session} = useKnown();
  const {data, error} = useIncidents(shown);
  if (!session) return null;
  const filtered = shown.kinds.length > 0 || shown.about !== "";
  return (
    <div class="incidents">
      <Gone session={session} shown={shown} />
      {(filtered || (data && data.kinds.length > 0)) && <Tools shown={shown} data={data} />}
      <Problem text={error} />
      {data && data.total > 0 && (
        <>
          <Summary data={data} shown={shown} session={session} />
          <List data={data} session={session} request={JSON.stringify([shown.newest, shown.kinds, shown.about])} />
        </>
      )}
      {data?.total === 0 && <None shown={shown} session={session} filtered={filtered} />}
    </div>
  );
}

/** Loads all incidents that match: an answer may hold fewer than there are, because it is limited in bytes. */
function useIncidents(shown: Shown) {
  const {session, version} = useKnown();
  const {newest, kinds, about} = shown;
  const url = (offset: number) =>
    address(`sessions/${session?.id}/incidents`, {
      ...scope(shown),
      sort: newest ? "from" : "blocked",
      kind: kinds.join(","),
      q: about,
      offset: offset || null,
    });
  return useLoaded<Incidents>(
    session && url(0),
    version,
    async (signal) => {
      const all = await ask<Incidents>(url(0), {signal});
      for (let more = 1; more > 0 && all.incidents.length < all.total; ) {
        const next = await ask<Incidents>(url(all.incidents.length), {signal});
        more = next.incidents.length;
        all.incidents.push(...next.incidents);
      }
      return all;
    },
    session?.id,
  );
}

/** States that the timeline of the selected range, or of the whole session, is not kept. */
function Gone({session, shown: {range}}: {session: Session; shown: Shown}) {
  const nothing = isEmptied(session);
  if (!nothing && !(range && session.evicted > 0 && range.from < session.from)) return null;
  const what = nothing ? "of this JVM" : range!.to > session.from ? "of a part of this time" : "of this time";
  return (
    <p class="banner" role="status">
      The timeline {what} is no longer stored, because the store was full.{" "}
      {!nothing && `What is left of it begins ${duration(session.from)} after the start (${began(session)}). `}
      The incidents below are what is kept.
    </p>
  );
}

/** The order, and the filters: a chip for each kind that there is, and a text. */
function Tools({shown: {newest, kinds, about}, data}: {shown: Shown; data: Incidents | null}) {
  const [typed, type] = useTyped(about, (about) => show({about}));
  const chips = data?.kinds.map(({kind, total}) => [kind as IncidentKind, total] as const) ?? [];
  for (const kind of kinds) if (!chips.some(([known]) => known === kind)) chips.push([kind, 0]);
  return (
    <div class="toolbar">
      <fieldset class="order-by" aria-label="Order">
        <Button text="Costliest first" pressed={!newest} onClick={() => show({newest: false})} />
        <Button text="Newest first" pressed={newest} onClick={() => show({newest: true})} />
      </fieldset>
      <fieldset class="chips" aria-label="Kinds">
        {chips.map(([kind, total]) => (
          <button
            key={kind}
            type="button"
            class="kind-chip"
            data-kind={kind}
            aria-pressed={kinds.includes(kind)}
            title={`${kinds.includes(kind) ? "Show other kinds, too" : "Show only these"}. ${incidentHelp[kind]}`}
            onClick={() => show({kinds: toggled(kinds, kind) as IncidentKind[]})}
          >
            <Kind kind={kind} /> <span class="count">{count(total)}</span>
          </button>
        ))}
      </fieldset>
      <label class="field grow">
        <span class="visually-hidden">Filter incidents by lock, thread or request</span>
        <input
          type="search"
          placeholder="Lock, thread or trace ID of a request"
          value={typed}
          onInput={(e) => type(e.currentTarget.value)}
        />
      </label>
    </div>
  );
}

/** How many, how much time all together, and since when. */
function Summary({data, shown, session}: {data: Incidents; shown: Shown; session: Session}) {
  const {kinds, range} = shown;
  const listed = data.kinds.filter(({kind}) => kinds.length === 0 || kinds.includes(kind as IncidentKind));
  // The waits after a lost notify are not contention.
  const blocked = listed.reduce((sum, {kind, blocked}) => (kind === "lost_notify" ? sum : sum + blocked), 0);
  const [time, date] = timeOfDay(session.origin, Math.min(...listed.map(({since}) => since)));
  const kept = `A session keeps ${data.most} incidents: the newest and, of the others, the costliest`;
  return (
    <p class="incident-sum">
      <strong>{many(data.total, "incident")}</strong>
      {blocked > 0 && (
        <>
          {" "}
          in which threads waited <strong>{duration(blocked)}</strong> all together
        </>
      )}
      {range ? " in the selected range" : <span title={date}>, since {time}</span>}.{" "}
      {range && <Button text="Show all" onClick={() => show({range: null})} />}
      <span class="hint" title={kept}>
        {data.total >= data.most ? `${kept}.` : "Shorter waits, of less than 10 ms all together, are not listed."}
      </span>
    </p>
  );
}

function None({shown, session, filtered}: {shown: Shown; session: Session; filtered: boolean}) {
  const {range} = shown;
  const title = filtered ? "No incident matches" : range ? "No incident in this range is kept" : "No incidents so far";
  return (
    <Empty title={title}>
      {!filtered && (
        <p>
          An incident is listed here once threads have waited for 10 ms or more all together for one lock, permit or
          pool, when that is over, or after a minute. Deadlocks are always listed. Other waits, as for tasks, latches or
          notifications, are no incidents: the sentence above says which cost the most.
        </p>
      )}
      {filtered && <Button text="Clear the filters" kind="primary" onClick={() => show({kinds: [], about: ""})} />}{" "}
      {range && <Button text="Show all" onClick={() => show({range: null})} />}{" "}
      {!filtered && !isEmptied(session) && (
        <Button text="Show what the threads did" kind="primary" onClick={() => show({tab: "threads"})} />
      )}
    </Empty>
  );
}

/** Identifies an incident while the list changes. */
function keyOf({kind, from, cast, to}: Incident): string {
  return `${kind}.${from}.${cast[0] ?? to}`;
}

function List({data, session, request}: {data: Incidents; session: Session; request: string}) {
  const box = useRef<HTMLUListElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string) =>
    setOpened((old) => {
      const next = new Set(old);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  useStill(box, request);
  const titles = () => [...box.current!.querySelectorAll<HTMLElement>(".incident-title")];
  const move = useEvent((e: KeyboardEvent): boolean => {
    const all = titles();
    const at = all.findIndex((one) => one.closest("li")!.contains(document.activeElement));
    const key = at < 0 ? undefined : data.incidents[at] && keyOf(data.incidents[at]);
    const to = {ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: all.length - 1}[e.key];
    if (to !== undefined) all[Math.min(to, all.length - 1)]?.focus();
    else if (key === undefined || document.activeElement !== all[at]) return false;
    else if (e.key === " " || e.key === (opened.has(key) ? "ArrowLeft" : "ArrowRight")) toggle(key);
    else return false;
    return true;
  });
  // Without a focused element, the arrow keys begin at the first row.
  useKeys((e) => e.key === "ArrowDown" && move(e));
  return (
    <ul
      class="incident-list"
      ref={box}
      aria-label="Incidents"
      onKeyDown={(e) => {
        if (!e.ctrlKey && !e.metaKey && !e.altKey && move(e)) e.preventDefault();
      }}
    >
      {data.incidents.map((incident) => {
        const key = keyOf(incident);
        return (
          <Row key={key} incident={incident} session={session} open={opened.has(key)} onToggle={() => toggle(key)} />
        );
      })}
    </ul>
  );
}

/** Keeps the row in use where it is when others come or go: the focused one, or else the first one in sight of a list that was scrolled. */
function useStill(box: {current: HTMLUListElement | null}, request: string): void {
  const anchor = useRef({request, row: null as HTMLElement | null, top: 0});
  const keep = useEvent(() => {
    const list = box.current!;
    const rows = [...list.children] as HTMLElement[];
    const row =
      rows.find((one) => one.contains(document.activeElement)) ??
      (list.scrollTop > 0 ? rows.find((one) => one.offsetTop + one.offsetHeight > list.scrollTop) : undefined);
    anchor.current = {request, row: row ?? null, top: row?.offsetTop ?? 0};
  });
  useLayoutEffect(() => {
    const {row, top, request: before} = anchor.current;
    if (row?.isConnected && before === request) box.current!.scrollTop += row.offsetTop - top;
    keep();
  });
  useEffect(() => {
    const list = box.current!;
    list.addEventListener("scroll", keep);
    list.addEventListener("focusin", keep);
    return () => {
      list.removeEventListener("scroll", keep);
      list.removeEventListener("focusin", keep);
    };
  }, [box]);
}
