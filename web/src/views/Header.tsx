// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The head of the page: session, search, link, downloads, theme, help and banners.
import type {ComponentChildren} from "preact";
import {useState} from "preact/hooks";
import {useKnown} from "../known";
import {iso, moment, zone} from "../lib/clock";
import {isLive, liveFirst} from "../lib/deadlocks";
import {duration, instant, many, shortClass} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Deadlock, Session} from "../lib/types";
import {link, setTheme, show, showSession, type Theme, theme} from "../store";
import {useCopy} from "../ui/hooks";
import {Icon, type IconName} from "../ui/Icon";
import {Menu} from "../ui/Popup";
import {Button} from "../ui/parts";
import {described} from "./Discarded";
import {ThreadName} from "./links";
import {Search} from "./Search";
import {began, Downloads} from "./Sessions";

export function Header({shown, onHelp}: {shown: Shown; onHelp: () => void}) {
  const {session, byId} = useKnown();
  const [copied, copy] = useCopy();
  const thread = byId.get(shown.thread)?.name ?? "";
  return (
    <header class="top">
      <h1 class="visually-hidden">Weft: why threads wait</h1>
      <a class="brand" href="./" aria-label="Weft">
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path class="warp" d="M4.5 2v16M10 2v16M15.5 2v16" />
          <path class="weft" d="M1 10c2.5-5 5-5 7 0s5.5 5 11 0" />
        </svg>
        weft
      </a>
      {session && <SessionSelect shown={shown} session={session} />}
      {session && (
        <span class="status" role="status">
          <Zone session={session} />
          {session.live ? <Live shown={shown} session={session} /> : <Ended session={session} />}
        </span>
      )}
      <span class="apart" />
      <Search />
      <Button
        icon="link"
        label={copied ? "Copied" : "Copy a link to this view"}
        {...(copied ? {text: "Copied"} : {})}
        onClick={() => void share(session, thread).then(copy)}
      />
      {session && (
        <Menu icon="download" label="Download this session">
          {() => <Downloads session={session} shown={shown} />}
        </Menu>
      )}
      <ThemeButton />
      <Button icon="help" label="Help and keys (?)" onClick={onHelp} />
    </header>
  );
}

/** The address of the view, with what it shows in words. */
async function share(session: Session | null, thread: string): Promise<string> {
  return link(session && (await described(session, thread)));
}

function SessionSelect({shown, session}: {shown: Shown; session: Session}) {
  const sessions = useKnown().sessions ?? [];
  const nameOf = (one: Session) => `${one.service || one.command || "JVM"} · ${one.pid || one.id.slice(0, 8)}`;
  return (
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
  );
}

function Live({shown: {follow}, session}: {shown: Shown; session: Session}) {
  return (
    <>
      <Button
        icon={follow ? "pause" : "play"}
        label={follow ? "Pause updates (Space)" : "Follow the session (Space)"}
        text={follow ? "Live" : "Paused"}
        kind={follow ? "live" : ""}
        onClick={() => show({follow: !follow})}
      />
      <span class="faint">{duration(session.to)}</span>
    </>
  );
}

function Ended({session}: {session: Session}) {
  return (
    <span class="faint">
      ended after {duration(session.to)}
      {{lost: ", connection lost", failed: ", failed"}[session.ended]}
    </span>
  );
}

/** The time zone of all clock times; the tooltip has the whole times. */
function Zone({session: {origin, to}}: {session: Session}) {
  const start = moment(origin);
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <time class="faint zone" dateTime={iso(start)} title={`${iso(start)} to ${iso(moment(origin, to))}, ${name}`}>
      {zone(start)}
    </time>
  );
}

const themes: Record<Theme, {icon: IconName; title: string; next: Theme}> = {
  auto: {icon: "auto", title: "System theme", next: "light"},
  light: {icon: "sun", title: "Light theme", next: "dark"},
  dark: {icon: "moon", title: "Dark theme", next: "auto"},
};

function ThemeButton() {
  const [mode, setMode] = useState(theme());
  const {icon, title, next} = themes[mode];
  const turn = () => {
    setTheme(next);
    setMode(next);
  };
  return <Button icon={icon} label={title} onClick={turn} />;
}

/** Errors, deadlocks and lost events. */
export function Banners({session, error}: {session: Session | null; error: string | null}) {
  const lost = session ? session.lost + session.missed : 0;
  const deadlocks = [...(session?.deadlocks ?? [])].sort(liveFirst).slice(0, 3);
  if (!error && lost === 0 && deadlocks.length === 0) return null;
  return (
    <section class="banners" aria-label="Problems">
      {error && <Banner kind="warn">{error}</Banner>}
      {deadlocks.map((deadlock) => (
        <Banner kind={isLive(deadlock) ? "bad" : "warn"} key={deadlock.id}>
          <DeadlockText deadlock={deadlock} />
        </Banner>
      ))}
      {lost > 0 && (
        <p class="banner warn">
          <Icon name="warn" />
          {many(lost, "event")} {lost === 1 ? "was" : "were"} lost; the affected times are marked, with unknown states.
        </p>
      )}
    </section>
  );
}

function Banner({kind, children}: {kind: string; children: ComponentChildren}) {
  return (
    <p class={`banner ${kind}`} role="alert">
      <Icon name="warn" />
      {children}
    </p>
  );
}

function DeadlockText({deadlock}: {deadlock: Deadlock}) {
  const {since, until, members} = deadlock;
  const live = isLive(deadlock);
  return (
    <span>
      <strong>Deadlock</strong> {live ? `since ${instant(since)}` : `from ${instant(since)} to ${instant(until)}`}:{" "}
      {members.map(({thread, lock}, i) => (
        <span key={thread.id}>
          {i > 0 && " → "}
          <ThreadName thread={thread} /> wants {shortClass(lock.class)}
          {lock.hash && `@${lock.hash}`}
        </span>
      ))}
      {members[0] && (
        <>
          {" "}
          → {members[0].thread.name}. {live ? "These threads will never continue." : "Then a thread left the cycle."}
        </>
      )}
    </span>
  );
}
