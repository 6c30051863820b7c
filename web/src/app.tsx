// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import {render} from "preact";
import {useEffect, useState} from "preact/hooks";
import {copy} from "./api";
import {KnownContext, useServer} from "./known";
import {duration} from "./lib/format";
import {type Shown, type Tab, tabs} from "./lib/link";
import type {Grouping} from "./lib/rows";
import type {Session} from "./lib/types";
import {applyTheme, link, now, setTheme, show, showSession, type Theme, theme, useShown} from "./store";
import {keyHelp} from "./timeline/keys";
import {Icon, type IconName} from "./ui/Icon";
import {useKeys} from "./ui/keys";
import {Button, Dialog, Empty, Menu} from "./ui/parts";
import {Answer, Banners} from "./views/Answer";
import {LocksView} from "./views/Locks";
import {LogView} from "./views/Log";
import {MonitorsView} from "./views/Monitors";
import {PathView} from "./views/Path";
import {Search} from "./views/Search";
import {began, Downloads, SessionsView} from "./views/Sessions";
import {ThreadsView} from "./views/Threads";

const titles: Record<Tab, string> = {
  threads: "Threads",
  locks: "Locks",
  monitors: "Monitor statistics",
  path: "Critical path",
  log: "Interactions",
  sessions: "Sessions",
};

const themes: Record<Theme, {icon: IconName; title: string; next: Theme}> = {
  auto: {icon: "auto", title: "Colours as the system has them", next: "light"},
  light: {icon: "sun", title: "Light colours", next: "dark"},
  dark: {icon: "moon", title: "Dark colours", next: "auto"},
};

function App() {
  const shown = useShown();
  const known = useServer(shown);
  const [help, setHelp] = useState(false);
  const {session, sessions} = known;
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
      <Header shown={shown} session={session} sessions={sessions} onHelp={() => setHelp(true)} />
      <Banners session={session} error={known.error} />
      {session && <Answer shown={shown} />}
      <nav class="tabs" role="tablist" aria-label="Views">
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
            {tab === "sessions" && sessions && <span class="count">{known.allSessions}</span>}
          </button>
        ))}
      </nav>
      <main aria-labelledby={`tab-${shown.tab}`}>
        <View shown={shown} session={session} sessions={sessions} />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </KnownContext.Provider>
  );
}

function View({shown, session, sessions}: {shown: Shown; session: Session | null; sessions: Session[] | null}) {
  if (shown.tab === "sessions") return <SessionsView shown={shown} />;
  if (!session) {
    if (sessions === null) return <Empty title="Asking the collector …" />;
    if (sessions.length > 0) {
      return (
        <Empty title="This session is no longer remembered">
          <p>The store is bounded, and the oldest windows leave first.</p>
          <button type="button" class="button primary" onClick={() => show({tab: "sessions"})}>
            See the sessions that are
          </button>
        </Empty>
      );
    }
    return (
      <Empty title="No JVM has been seen yet">
        <p>Start one with the agent; it appears here as soon as it sends:</p>
        <pre>java -agentpath:/path/to/libweft.so=service=orders -jar orders.jar</pre>
      </Empty>
    );
  }
  switch (shown.tab) {
    case "threads":
      return <ThreadsView key={session.id} shown={shown} />;
    case "locks":
      return <LocksView key={session.id} shown={shown} />;
    case "monitors":
      return <MonitorsView key={session.id} shown={shown} />;
    case "path":
      return <PathView key={session.id} shown={shown} />;
    case "log":
      return <LogView key={session.id} shown={shown} />;
  }
}

interface HeaderProps {
  shown: Shown;
  session: Session | null;
  sessions: Session[] | null;
  onHelp: () => void;
}

function Header({shown, session, sessions, onHelp}: HeaderProps) {
  const [mode, setMode] = useState(theme());
  const [copied, setCopied] = useState(false);
  const share = async () => {
    await copy(link());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const nameOf = (one: Session) => `${one.service || one.command || "JVM"} · ${one.pid || one.id.slice(0, 8)}`;
  return (
    <header class="top">
      <a class="brand" href="./" aria-label="Weft">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path class="warp" d="M4.5 2v16M10 2v16M15.5 2v16" />
          <path class="weft" d="M1 10c2.5-5 5-5 7 0s5.5 5 11 0" />
        </svg>
        weft
      </a>
      {session && sessions && (
        <select
          class="session"
          aria-label="Session"
          value={session.id}
          onChange={(e) => showSession(e.currentTarget.value, shown.tab === "sessions" ? "threads" : shown.tab)}
        >
          {(sessions.includes(session) ? sessions : [session, ...sessions]).map((one) => (
            <option key={one.id} value={one.id}>
              {nameOf(one)} · {one.live ? "live" : began(one)}
            </option>
          ))}
        </select>
      )}
      {session && (
        <span class="status" role="status">
          {session.live ? (
            <>
              <Button
                icon={shown.follow ? "pause" : "play"}
                label={shown.follow ? "Pause: let the picture stand still (Space)" : "Follow the session (Space)"}
                text={shown.follow ? "Live" : "Paused"}
                kind={shown.follow ? "live" : ""}
                onClick={() => show({follow: !shown.follow})}
              />
              <span class="faint">{duration(session.to)}</span>
            </>
          ) : (
            <span class="faint">
              ended after {duration(session.to)}
              {session.ended === "lost" ? ", connection lost" : ""}
            </span>
          )}
        </span>
      )}
      <span class="apart" />
      <Search />
      <Button
        icon="link"
        label={copied ? "Copied" : "Copy a link to exactly this view"}
        {...(copied ? {text: "Copied"} : {})}
        onClick={() => void share()}
      />
      {session && (
        <Menu icon="download" label="Download this session">
          {() => <Downloads session={session} shown={shown} />}
        </Menu>
      )}
      <Button
        icon={themes[mode].icon}
        label={themes[mode].title}
        onClick={() => {
          setTheme(themes[mode].next);
          setMode(themes[mode].next);
        }}
      />
      <Button icon="help" label="Help and keys (?)" onClick={onHelp} />
    </header>
  );
}

function Help({onClose}: {onClose: () => void}) {
  return (
    <Dialog title="Keys and mouse" onClose={onClose}>
      <dl class="keys">
        {keyHelp.map(([key, text]) => (
          <>
            <dt key={`${key}:`}>
              {key.split(/\s+/).map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd key={key}>{text}</dd>
          </>
        ))}
        <dt>wheel</dt>
        <dd>scroll through the lanes; over the ruler or with Ctrl: zoom; with Shift: pan</dd>
        <dt>drag</dt>
        <dd>pan; over the ruler or with Shift: choose a range, which all tables then count</dd>
        <dt>double click</dt>
        <dd>zoom to the interval</dd>
      </dl>
      <p class="hint">
        An arrow goes from the thread that acted to the thread that it let go on. Low bars wait by choice, tall striped
        ones are held up. Several intervals within a pixel are drawn as parts of it: zoom in to see them.
      </p>
      <p class="hint">
        <Icon name="link" /> The address of the page always says exactly what is shown.
      </p>
    </Dialog>
  );
}

applyTheme();
render(<App />, document.getElementById("app")!);
