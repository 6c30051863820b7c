// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Live and finished sessions, and the files they can be downloaded as.
import {address} from "../api";
import {scope, useKnown} from "../known";
import {clock, iso, moment, zone} from "../lib/clock";
import {isLive} from "../lib/deadlocks";
import {bytes, count, duration} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Session} from "../lib/types";
import {show, showSession} from "../store";
import {Icon} from "../ui/Icon";
import {Button, Fact} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {Configuration} from "./Configuration";
import {countColumn, less} from "./columns";
import {Refused} from "./Welcome";

/** The start of a session in the local time zone, with the date unless it began today. */
export function began({origin}: Session): string {
  return clock(moment(origin));
}

const endings: Record<string, string> = {
  end: "ended",
  lost: "connection lost",
  shutdown: "collector stopped",
  failed: "failed",
};

function state({live, ended}: Session): string {
  return live ? "live" : (endings[ended] ?? "ended");
}

const columns: Column<Session>[] = [
  {
    key: "service",
    title: "Service",
    grow: true,
    value: ({service, command}) => service || command || "(no name)",
    show: (session) => (
      <>
        <span class={`dot ${session.live ? "live" : ""}`} title={state(session)} />
        {session.deadlocks.some(isLive) && <Icon name="warn" />}
        {session.service || session.command || "(no name)"}
      </>
    ),
  },
  {key: "live", title: "State", width: 116, value: state},
  {key: "host", title: "Host", priority: 2, value: ({host}) => host},
  {key: "pid", title: "PID", priority: 2, value: ({pid}) => pid},
  {
    key: "jvm",
    title: "JVM",
    priority: 3,
    width: 110,
    value: ({jvm}) => jvm,
    show: ({jvm}) => jvm.replace(" Runtime Environment", ""),
    tip: ({jvm}) => jvm,
  },
  {
    key: "origin",
    title: "Start",
    width: 150,
    help: `Sort by start; times are ${zone()}`,
    value: ({origin}) => Number(origin),
    show: began,
    tip: ({origin}) => iso(moment(origin)),
  },
  {key: "to", title: "Duration", value: ({to}) => to, show: ({to}) => duration(to)},
  countColumn("threads", "Threads", "", ({threads}) => threads),
  less(
    3,
    countColumn("intervals", "Intervals", "", ({intervals}) => intervals),
  ),
  {key: "deadlocks", title: "Deadlocks", value: ({deadlocks}) => deadlocks.length},
  countColumn("incidents", "Incidents", "", ({incidents}) => incidents),
  countColumn(
    "lost",
    "Events lost",
    "Events that the agent dropped or that never arrived",
    ({lost, missed}) => lost + missed,
  ),
  {
    key: "bytes",
    title: "Memory",
    priority: 2,
    value: (session) => session.bytes,
    show: (session) => bytes(session.bytes),
  },
];

export function SessionsView({shown}: {shown: Shown}) {
  const {sessions, allSessions, moreSessions, session, info} = useKnown();
  const listed = sessions?.length ?? 0;
  return (
    <div class="sessions">
      <section class="panel" aria-label="Sessions">
        <header>
          <h2>Sessions</h2>
          <span class="hint">
            {info &&
              `${bytes(info.bytes)} of ${bytes(info.max_bytes)} used; the oldest windows are discarded first, incidents are kept longer`}
            {listed < allSessions && `; ${count(listed)} of ${count(allSessions)} sessions so far; scroll for more`}
          </span>
        </header>
        <Table<Session, string>
          label="Sessions"
          name="sessions"
          columns={columns}
          rows={sessions ?? []}
          id={({id}) => id}
          sort={{key: "origin", order: "desc"}}
          chosen={shown.session ? [shown.session] : []}
          onChoose={([id]) => id && id !== shown.session && showSession(id)}
          onOpen={({id}) => showSession(id, "threads")}
          onEnd={moreSessions}
          empty={info?.notice || "No sessions yet. Start a JVM with the agent."}
        />
      </section>
      {info && <Refused refused={info.refused} />}
      {session && <One session={session} shown={shown} />}
    </div>
  );
}

function One({session, shown}: {session: Session; shown: Shown}) {
  const attributes = Object.entries(session.attributes).sort(([a], [b]) => a.localeCompare(b));
  return (
    <div class="two">
      <section class="panel" aria-label="Session">
        <header>
          <h2>{session.service || "Session"}</h2>
          <span class="apart" />
          <Button text="Show threads" kind="primary" onClick={() => show({tab: "threads"})} />
        </header>
        <dl class="attributes">
          {attributes.map(([key, value]) => (
            <Fact key={key} name={key}>
              {value}
            </Fact>
          ))}
          <Fact name="discarded windows">{count(session.evicted)}</Fact>
          <Fact name="kept incidents">{count(session.incidents)}</Fact>
          <Fact name="events">
            {count(session.events)}, lost {count(session.lost)}, missed {count(session.missed)}
          </Fact>
        </dl>
      </section>
      <div class="column">
        <section class="panel" aria-label="Download">
          <header>
            <h2>Download</h2>
            <span class="hint">{shown.range ? "the selected range" : "all retained data"}</span>
          </header>
          <Downloads session={session} shown={shown} />
        </section>
        <section class="panel" aria-label="Profiler">
          <header>
            <h2>Profiler</h2>
          </header>
          <Configuration session={session} />
        </section>
      </div>
    </div>
  );
}

export function Downloads({session, shown}: {session: Session; shown: Shown}) {
  const formats = [
    ["native", "Weft recording", "can be replayed to a collector"],
    ["otlp", "OTLP JSON", "spans and links, for any OpenTelemetry tool"],
    ["perfetto", "Perfetto trace", "with flow arrows, for ui.perfetto.dev"],
  ] as const;
  return (
    <ul class="downloads">
      {formats.map(([format, title, text]) => (
        <li key={format}>
          <a class="button" download href={address(`sessions/${session.id}/download`, {format, ...scope(shown)})}>
            <Icon name="download" />
            {title}
          </a>
          <span class="hint">{text}</span>
        </li>
      ))}
    </ul>
  );
}
