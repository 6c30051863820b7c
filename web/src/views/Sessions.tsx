// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Live and finished sessions; files to take away; the agent's options where they can be changed.
import {useEffect, useState} from "preact/hooks";
import {address, ask} from "../api";
import {useKnown} from "../known";
import {bytes, count, duration} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Control, ControlAnswer, Session} from "../lib/types";
import {show, showSession} from "../store";
import {Icon} from "../ui/Icon";
import {Button, Problem} from "../ui/parts";
import {type Column, Table} from "../ui/Table";

export function began(session: Session): string {
  const milliseconds = Number(BigInt(session.origin) / 1_000_000n);
  return new Date(milliseconds).toLocaleString("sv"); // 2026-03-28 19:05:12, in the reader's time zone
}

const endings: Record<string, string> = {end: "ended", lost: "connection lost", shutdown: "collector stopped"};

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
        {session.deadlocks.length > 0 && <Icon name="warn" />}
        {session.service || session.command || "(no name)"}
      </>
    ),
  },
  {
    key: "live",
    title: "State",
    value: state,
  },
  {key: "host", title: "Host", value: ({host}) => host},
  {key: "pid", title: "Process", value: ({pid}) => pid},
  {
    key: "jvm",
    title: "JVM",
    value: ({jvm}) => jvm,
    show: ({jvm}) => jvm.replace(" Runtime Environment", ""),
    tip: ({jvm}) => jvm,
  },
  {key: "origin", title: "Began", value: ({origin}) => Number(origin), show: (session) => began(session)},
  {key: "to", title: "Lasted", value: ({to}) => to, show: ({to}) => duration(to)},
  {key: "threads", title: "Threads", value: ({threads}) => threads, show: ({threads}) => count(threads)},
  {key: "intervals", title: "Intervals", value: ({intervals}) => intervals, show: ({intervals}) => count(intervals)},
  {key: "deadlocks", title: "Deadlocks", value: ({deadlocks}) => deadlocks.length},
  {
    key: "lost",
    title: "Events lost",
    help: "Events that the agent could not keep, or that never came here",
    value: ({lost, missed}) => lost + missed,
    show: ({lost, missed}) => count(lost + missed),
  },
  {key: "bytes", title: "Memory", value: (session) => session.bytes, show: (session) => bytes(session.bytes)},
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
            {info && `${bytes(info.bytes)} of ${bytes(info.max_bytes)} are used; the oldest windows leave first`}
            {listed < allSessions && `; ${count(listed)} of ${count(allSessions)} sessions so far, scroll for more`}
          </span>
        </header>
        <Table<Session, string>
          label="Sessions"
          columns={columns}
          rows={sessions ?? []}
          id={({id}) => id}
          sort={{key: "origin", order: "desc"}}
          chosen={shown.session ? [shown.session] : []}
          onChoose={([id]) => id && id !== shown.session && showSession(id)}
          onOpen={({id}) => showSession(id, "threads")}
          onEnd={moreSessions}
          empty="No session yet. Start a JVM with the agent."
        />
      </section>
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
          <button type="button" class="button primary" onClick={() => show({tab: "threads"})}>
            Show its threads
          </button>
        </header>
        <dl class="attributes">
          {attributes.map(([key, value]) => (
            <>
              <dt key={`${key}=`}>{key}</dt>
              <dd key={key}>{value}</dd>
            </>
          ))}
          <dt>evicted windows</dt>
          <dd>{count(session.evicted)}</dd>
          <dt>events</dt>
          <dd>
            {count(session.events)}, lost {count(session.lost)}, missed {count(session.missed)}
          </dd>
        </dl>
      </section>
      <div class="column">
        <section class="panel" aria-label="Download">
          <header>
            <h2>Download</h2>
            <span class="hint">{shown.range ? "the chosen range" : "all that is remembered"}</span>
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
    ["native", "Weft recording", "can be replayed into a collector"],
    ["otlp", "OTLP JSON", "spans and links, for any OpenTelemetry tool"],
    ["perfetto", "Perfetto trace", "with flow arrows, for ui.perfetto.dev"],
  ] as const;
  return (
    <ul class="downloads">
      {formats.map(([format, title, text]) => (
        <li key={format}>
          <a
            class="button"
            download
            href={address(`sessions/${session.id}/download`, {format, from: shown.range?.from, to: shown.range?.to})}
          >
            <Icon name="download" />
            {title}
          </a>
          <span class="hint">{text}</span>
        </li>
      ))}
    </ul>
  );
}

function Configuration({session}: {session: Session}) {
  const {reload, info} = useKnown();
  const [problem, setProblem] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const [changed, setChanged] = useState<Record<string, string>>({});
  // What the agent has just said counts until the list of sessions is there again.
  const [told, setTold] = useState<Control | null>(null);
  useEffect(() => setTold(null), [session.control]);
  const control = told ?? session.control;
  if (!control) {
    return (
      <p class="hint">
        {info?.control
          ? session.live
            ? "The agent of this session is not connected to this collector: it cannot be spoken to from here."
            : "The session has ended: there is no agent to speak to."
          : "Agents cannot be paused or configured from here: the control channel is not enabled in the collector's configuration."}
      </p>
    );
  }
  const act = (action: string, options?: Record<string, string>) => {
    setProblem(null);
    setSaid("");
    ask<ControlAnswer>(address(`sessions/${session.id}/control`), {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify({action, options: options ?? {}}),
    }).then(
      (answer) => {
        if (answer.done) setSaid(answer.message || "Done.");
        else setProblem(answer.message);
        setChanged({});
        setTold(answer.control);
        reload();
      },
      (error: Error) => setProblem(error.message),
    );
  };
  const dirty = Object.keys(changed).length > 0;
  return (
    <div class="configuration">
      <div class="criteria">
        <Button
          icon={control.paused ? "play" : "pause"}
          label={control.paused ? "Resume profiling" : "Pause profiling"}
          text={control.paused ? "Resume profiling" : "Pause profiling"}
          onClick={() => act(control.paused ? "resume" : "pause")}
        />
        <Button
          label="Ask the agent in which state each thread is now"
          text="Take a snapshot"
          onClick={() => act("snapshot")}
        />
      </div>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          act("options", changed);
        }}
      >
        {Object.entries(control.options).map(([name, value]) => (
          <div class="field" key={name}>
            <span>{name}</span>
            {value === "true" || value === "false" ? (
              <input
                type="checkbox"
                aria-label={name}
                checked={(changed[name] ?? value) === "true"}
                onChange={(e) => setChanged({...changed, [name]: String(e.currentTarget.checked)})}
              />
            ) : (
              <input
                type="text"
                aria-label={name}
                value={changed[name] ?? value}
                onInput={(e) => setChanged({...changed, [name]: e.currentTarget.value})}
              />
            )}
          </div>
        ))}
        {Object.keys(control.options).length > 0 && (
          <button type="submit" class="button primary" disabled={!dirty}>
            Apply
          </button>
        )}
      </form>
      <Problem text={problem} />
      <p class="hint" aria-live="polite">
        {said}
      </p>
    </div>
  );
}
