// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import {render} from "preact";
import {useEffect, useState} from "preact/hooks";
import {KnownContext, useMoment, useServer} from "./known";
import {useLater} from "./later";
import {clocks, moment, zone} from "./lib/clock";
import {instant} from "./lib/format";
import {type Shown, type Tab, tabs} from "./lib/link";
import type {Grouping} from "./lib/rows";
import type {Session} from "./lib/types";
import {applyTheme, link, now, show, useShown} from "./store";
import {useKeys} from "./ui/hooks";
import {Button, Empty} from "./ui/parts";
import {Answer} from "./views/Answer";
import {CausesView} from "./views/Causes";
import {Discarded, TimeGone} from "./views/Discarded";
import {Emptied, isEmptied} from "./views/Emptied";
import {Banners, Header} from "./views/Header";
import {ThreadsView} from "./views/Threads";

const titles: Record<Tab, string> = {
  causes: "Causes",
  incidents: "Incidents",
  requests: "Requests",
  threads: "Threads",
  locks: "Locks",
  flame: "Flame graph",
  monitors: "Monitor statistics",
  path: "Critical path",
  log: "Interactions",
  sessions: "Sessions",
};

function App() {
  const shown = useShown();
  const known = useServer(shown);
  const [help, setHelp] = useState(false);
  const {session, sessions} = known;
  const {views} = useLater();
  useMoment(shown, session);
  useKeys((e) => {
    if (e.key === "?") setHelp(true);
    else if (e.key === "p") show({path: !now().path});
    else if (e.key === "g")
      show({grouping: ({none: "group", group: "pool", pool: "none"} as const)[now().grouping] as Grouping});
    else if (e.key === " " && session?.live) show({follow: !now().follow});
    else return false;
    return true;
  });
  useEffect(() => {
    const name = session?.service || session?.command;
    document.title = name ? `${name}: why threads wait – Weft` : "Weft: why threads wait";
  }, [session?.service, session?.command]);
  return (
    <KnownContext.Provider value={known}>
      <Header shown={shown} onHelp={() => setHelp(true)} />
      {session && <Printed shown={shown} session={session} />}
      <Banners session={session} error={known.error} />
      {session && !isEmptied(session) && <Answer shown={shown} session={session} />}
      {session && <TimeGone shown={shown} session={session} title={titles[shown.tab]} />}
      <nav aria-label="Views">
        <div class="tabs" role="tablist" aria-label="Views">
          {tabs.map((tab) => (
            <button
              key={tab}
              type="button"
              role="tab"
              id={`tab-${tab}`}
              aria-selected={shown.tab === tab}
              onClick={() => show({tab})}
            >
              {titles[tab]}
              {tab === "incidents" && session && <span class="count">{session.incidents}</span>}
              {tab === "sessions" && sessions && <span class="count">{known.allSessions}</span>}
            </button>
          ))}
        </div>
      </nav>
      <main aria-labelledby={`tab-${shown.tab}`}>
        <View shown={shown} session={session} sessions={sessions} />
      </main>
      {help && views && <views.Help onClose={() => setHelp(false)} />}
    </KnownContext.Provider>
  );
}

function View({shown, session, sessions}: {shown: Shown; session: Session | null; sessions: Session[] | null}) {
  const {views, failed} = useLater();
  const loading = <Empty title="Loading …" />;
  const later = failed ? <LoadFailed /> : loading;
  if (shown.tab === "sessions") return views ? <views.SessionsView shown={shown} /> : later;
  if (!session) {
    if (sessions === null) return loading;
    if (sessions.length > 0 || shown.was) return <Discarded shown={shown} title={titles[shown.tab]} />;
    return views ? <views.Welcome /> : later;
  }
  if (shown.moment) return loading;
  if (shown.tab === "incidents") return views ? <views.IncidentsView key={session.id} shown={shown} /> : later;
  if (isEmptied(session)) return <Emptied session={session} />;
  if (shown.tab === "causes") return <CausesView key={session.id} shown={shown} />;
  if (shown.tab === "threads") return <ThreadsView key={session.id} shown={shown} />;
  if (!views) return later;
  switch (shown.tab) {
    case "requests":
      return <views.RequestsView key={session.id} shown={shown} />;
    case "locks":
      return <views.LocksView key={session.id} shown={shown} />;
    case "flame":
      return <views.FlameView key={session.id} shown={shown} />;
    case "monitors":
      return <views.MonitorsView key={session.id} shown={shown} />;
    case "path":
      return <views.PathView key={session.id} shown={shown} />;
    case "log":
      return <views.LogView key={session.id} shown={shown} />;
  }
}

/** What a printed page shows above the view. */
function Printed({shown, session}: {shown: Shown; session: Session}) {
  const {from, to} = shown.range ?? shown.view ?? session;
  const start = moment(session.origin, from);
  return (
    <div class="printed">
      <strong>
        {session.service || session.command || "JVM"}: {titles[shown.tab]}
      </strong>{" "}
      {clocks(start, moment(session.origin, to), 0)} ({zone(start)}; {instant(from)} – {instant(to)})
      <div class="address">{link(null)}</div>
    </div>
  );
}

/** The collector did not send the other views: it has stopped, or was replaced by another version. */
function LoadFailed() {
  return (
    <Empty title="A part of the page did not load">
      <p>The collector does not respond, or is another version now.</p>
      <Button text="Reload the page" kind="primary" onClick={() => location.reload()} />
    </Empty>
  );
}

applyTheme();
render(<App />, document.getElementById("app")!);
