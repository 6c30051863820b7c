// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// One incident: a row that leads to the lanes, and its details.
import type {ComponentChildren} from "preact";
import {duration, exact, instant, many, marked, shortMethod, timeOfDay} from "../lib/format";
import {mostCast, type Shown, toHash} from "../lib/link";
import type {Incident, IncidentPart, Session} from "../lib/types";
import {type IncidentKind, incidentHelp} from "../lib/words";
import {now, show} from "../store";
import {Icon, type IconName} from "../ui/Icon";
import {Button} from "../ui/parts";
import {SpanLink} from "./links";

const icons: Record<IncidentKind, IconName> = {
  deadlock: "cycle",
  contention: "lock",
  pool_exhausted: "pool",
  carriers_starved: "queue",
  lost_notify: "bell",
  potential_deadlock: "warn",
};

export function Kind({kind}: {kind: IncidentKind}) {
  return (
    <span class={`kind-badge ${kind}`} title={incidentHelp[kind]}>
      {icons[kind] && <Icon name={icons[kind]} />}
      {kind.replace("_", " ")}
    </span>
  );
}

/** What the lanes show of an incident: its time, its threads, and the holder. */
function sceneOf({from, to, cast, holds, waits}: Incident): Partial<Shown> {
  // A moment is shown with what happened around it.
  const margin = to > from ? Math.max((to - from) / 10, 1e5) : 5e7;
  return {
    tab: "threads",
    view: {from: Math.max(0, Math.floor(from - margin)), to: Math.ceil(to + margin)},
    range: to > from ? {from, to} : null,
    cast: cast.slice(0, mostCast),
    thread: holds[0]?.thread.id ?? cast[0] ?? waits[0]?.thread.id ?? 0,
    seq: 0,
    follow: false,
  };
}

interface Props {
  incident: Incident;
  session: Session;
  open: boolean;
  onToggle: () => void;
}

export function Row({incident, session, open, onToggle}: Props) {
  const {kind, from, to, timeline, blocked, threads} = incident;
  const [time, date] = timeOfDay(session.origin, from);
  return (
    <li class={`incident ${timeline}`}>
      <div class="incident-row">
        <span class="when" title={`${date}, ${instant(from)} after the start`}>
          {time}
          <span class="faint">{date.slice(-4)}</span>
        </span>
        <Kind kind={kind as IncidentKind} />
        <span>
          <Title incident={incident} onToggle={onToggle} />
          <Where incident={incident} />
        </span>
        <span
          class="cost"
          title={blocked > 0 ? `${many(threads, "thread")} waited ${exact(blocked)} all together` : ""}
        >
          {blocked > 0 ? <strong>{duration(blocked)}</strong> : <span class="faint">none yet</span>}
          <small>{blocked > 0 ? "waited" : ""}</small>
        </span>
        <span class="cost">
          {to > from ? duration(to - from) : "–"}
          <small>{to > from ? (incident.open ? "not over" : "lasted") : ""}</small>
        </span>
        <button
          type="button"
          class="button square"
          aria-expanded={open}
          aria-label={`Details of the incident at ${time}`}
          title="Details: who held, who waited, where (Space)"
          onClick={onToggle}
        >
          <Icon name={open ? "down" : "right"} />
        </button>
      </div>
      {open && <Details incident={incident} />}
    </li>
  );
}

/** The sentence, as a link to the lanes; without a timeline it opens the details. */
function Title({incident, onToggle}: {incident: Incident; onToggle: () => void}) {
  const {timeline, text, object, holds} = incident;
  const gone = timeline === "gone";
  const names = [...holds.map(({thread}) => thread.name), ...object.split(", ")];
  return (
    <a
      class="incident-title"
      href={gone ? `#${toHash(now())}` : `#${toHash({...now(), ...sceneOf(incident)})}`}
      title={gone ? undefined : "Show its threads on the timeline (Enter)"}
      onClick={(e) => {
        if (e.ctrlKey || e.metaKey || e.shiftKey) return; // another tab of the browser
        e.preventDefault();
        if (gone) onToggle();
        else show(sceneOf(incident));
      }}
    >
      {marked(text, names).map(([part, name], i) => (name ? <b key={i}>{part}</b> : part))}
    </a>
  );
}

/** Which threads waited, and in which method. */
function Where({incident: {timeline, waiters, waits, kind}}: {incident: Incident}) {
  const method = waits[0]?.function;
  return (
    <span class="where">
      {waiters && kind !== "lost_notify" && `Waited: ${waiters}`}
      {waiters && kind !== "lost_notify" && method && <span title={method}>, in {shortMethod(method)}</span>}
      {timeline !== "whole" && (
        <span class="badge" title="The store was full and discarded the windows of this time">
          {timeline === "gone" ? "timeline no longer stored" : "timeline partly stored"}
        </span>
      )}
    </span>
  );
}

function Details({incident}: {incident: Incident}) {
  const {from, to, kind, open, timeline, object, threads, waited, longest, blocked, timed_out, holds, waits} = incident;
  const requests = [...new Set([...holds, ...waits].map(({request}) => request?.trace_id ?? ""))].filter(Boolean);
  const holder = holds[0]?.thread.name;
  const potential = kind === "potential_deadlock";
  const over = open ? (kind === "deadlock" ? ", never ended" : ", then not over") : "";
  return (
    <div class="incident-details">
      <p class="hint">
        {potential
          ? `At ${instant(from)} after the start. ${incidentHelp[kind as IncidentKind]}`
          : `From ${instant(from)} to ${instant(to)} after the start (${duration(to - from)}${over}): ${many(threads, "thread")} waited ${many(waited, "time")}, ${duration(blocked)} all together, ${duration(longest)} at most${timed_out > 0 ? `; ${many(timed_out, "wait")} timed out` : ""}.`}
      </p>
      <p class="tools-line">
        {timeline !== "gone" && (
          <Button text="Show on the timeline" kind="primary" onClick={() => show(sceneOf(incident))} />
        )}
        {object && <Button icon="filter" text={`Only ${object}`} onClick={() => show({about: object, kinds: []})} />}
        {holder && <Button icon="filter" text={`Only ${holder}`} onClick={() => show({about: holder, kinds: []})} />}
        {requests.map((id) => (
          <Button
            key={id}
            icon="filter"
            text={`Only request ${id.slice(0, 8)}…`}
            label={`Only incidents in which a thread waited for the request ${id}`}
            onClick={() => show({about: id, kinds: []})}
          />
        ))}
      </p>
      <Parts title={potential ? "In which orders" : kind === "lost_notify" ? "Who called" : "Who held"} parts={holds} />
      <Parts title={kind === "lost_notify" ? "Who waited in vain" : "Who waited longest"} parts={waits} />
    </div>
  );
}

function Parts({title, parts}: {title: string; parts: IncidentPart[]}): ComponentChildren {
  if (parts.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {parts.map((part) => (
          <li key={`${part.thread.id}.${part.from}`}>
            <span class="faint">{instant(part.from)}</span> {part.text}{" "}
            {part.request && (
              <>
                (request <SpanLink span={part.request} />)
              </>
            )}
            {part.frames.length > 0 && <pre class="frames">{part.frames.join("\n")}</pre>}
          </li>
        ))}
      </ul>
    </>
  );
}
