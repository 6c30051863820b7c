// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Episodes of contention that are kept, also when the timeline of their time is not.
import type {ComponentChildren} from "preact";
import {scope, useKnown, usePart} from "../known";
import {count, duration, instant} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Incident, IncidentPart, Incidents, Session} from "../lib/types";
import {show} from "../store";
import {Button, Empty, Problem} from "../ui/parts";
import {SpanLink} from "./links";
import {began} from "./Sessions";

export function IncidentsView({shown}: {shown: Shown}) {
  const {session} = useKnown();
  const {data, error} = usePart<Incidents>("incidents", scope(shown));
  if (!session) return null;
  return (
    <div class="incidents">
      <Gone session={session} shown={shown} />
      <Problem text={error} />
      {data && (
        <section class="panel" aria-label="Incidents">
          <header>
            <h2>Incidents</h2>
            <span class="hint">
              {shown.range ? `${data.total} in the selected range; ` : ""}the costliest first; a session keeps{" "}
              {data.most}, the newest and the costliest
            </span>
            {shown.range && <Button text="Show all" onClick={() => show({range: null})} />}
          </header>
          {data.incidents.map((incident) => (
            <One key={`${incident.from}.${incident.to}`} incident={incident} />
          ))}
          {data.total === 0 && (
            <Empty title={shown.range ? "No incident in this range is kept" : "No incidents so far"}>
              <p>An incident is listed when it is over, or after a minute. Threads waited for 10 ms or more in it.</p>
            </Empty>
          )}
        </section>
      )}
    </div>
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

/** Whether nothing but incidents is left of a session. */
export function isEmptied(session: Session): boolean {
  return session.evicted > 0 && session.from >= session.to && !session.live;
}

/** What takes the place of all other views of such a session. */
export function Emptied({session}: {session: Session}) {
  return (
    <Empty title="The timeline of this JVM is no longer stored">
      <p>
        The store was full and discarded the oldest windows first. {count(session.incidents)} of its incidents are kept.
      </p>
      <Button text="Show incidents" kind="primary" onClick={() => show({tab: "incidents", range: null})} />
    </Empty>
  );
}

function One({incident}: {incident: Incident}) {
  const {from, to, deadlock, open, timeline, name, text, blocked, threads, waited, longest, timed_out} = incident;
  return (
    <details class={`incident ${timeline}`}>
      <summary>
        <span class="faint">{instant(from)}</span> <strong>{name}</strong> {text}
        {timeline !== "whole" && (
          <span class="badge" title="The store was full and discarded the windows of this time">
            {timeline === "gone" ? "timeline no longer stored" : "timeline partly stored"}
          </span>
        )}
      </summary>
      <p class="hint">
        From {instant(from)} to {instant(to)} ({duration(to - from)}
        {open ? (deadlock ? ", never ended" : ", then not over") : ""}): {count(threads)} threads waited {count(waited)}{" "}
        times, {duration(blocked)} all together, {duration(longest)} at most
        {timed_out > 0 && `; ${count(timed_out)} waits timed out`}.{" "}
        {timeline !== "gone" && <Button text="Show on the timeline" onClick={() => showTimeline(incident)} />}
      </p>
      <Parts title="Who held" parts={incident.holds} />
      <Parts title="Who waited longest" parts={incident.waits} />
    </details>
  );
}

function showTimeline({from, to, holds, waits}: Incident): void {
  const margin = Math.max(to - from, 1e6);
  const view = {from: Math.max(0, from - margin), to: to + margin};
  const thread = holds[0]?.thread.id ?? waits[0]?.thread.id ?? 0;
  show({tab: "threads", view, range: {from, to: Math.max(to, from + 1)}, follow: false, thread, seq: 0});
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
