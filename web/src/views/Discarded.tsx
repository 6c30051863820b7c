// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a link showed whose session, or whose time, is no longer stored. All that is known of it is in the link.
import {useEffect} from "preact/hooks";
import {address, ask, type Parameters} from "../api";
import {useKnown} from "../known";
import {clocks, moment, zone} from "../lib/clock";
import {bytes, shortClass} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Interval, LockLanes, Session} from "../lib/types";
import type {Was} from "../lib/was";
import {now, show} from "../store";
import {Icon} from "../ui/Icon";
import {Button, Empty} from "../ui/parts";
import {isEmptied} from "./Emptied";

/** What the current view shows, in words, for a link. The name of a lock is loaded if necessary. */
export async function described(session: Session, thread: string): Promise<Was> {
  const {view, range, lock, flame, classes, thread: id, seq} = now();
  const {from, to} = range ?? view ?? session;
  const service = session.service || session.command || "JVM";
  const was = {service, thread, lock: shortClass(flame || classes[0] || "")};
  const part = <T,>(name: string, parameters: Parameters) =>
    ask<T>(address(`sessions/${session.id}/${name}`, parameters)).catch(() => null); // then without the name
  if (lock) {
    const row = (await part<LockLanes>("locklanes", {locks: lock, width: 1}))?.lanes[0]?.row;
    if (row) was.lock = row.name || `${shortClass(row.lock.class)}@${row.lock.hash}`;
  } else if (id && seq) {
    const waited = (await part<Interval>("interval", {thread: id, seq}))?.lock;
    if (waited) was.lock = shortClass(waited.class);
  }
  return {...was, from: moment(session.origin, from), to: moment(session.origin, to)};
}

/** The sentence about what the link showed. */
function Sentence({was: {service, from, to, thread, lock}, tab}: {was: Was; tab: string}) {
  return (
    <>
      The link showed <strong>{tab}</strong> of <strong>{service || "a JVM"}</strong>
      {from > 0 && `, ${clocks(from, to)} (${zone(from)})`}
      {thread && (
        <>
          , with thread <strong>{thread}</strong>
        </>
      )}
      {lock && (
        <>
          {thread ? " and" : ", with"} lock <strong>{lock}</strong>
        </>
      )}
      .
    </>
  );
}

/** In place of a session that is no longer stored. */
export function Discarded({shown: {was, tab}, title}: {shown: Shown; title: string}) {
  const {info} = useKnown();
  return (
    <Empty title="This session was discarded">
      {was && (
        <p class="was">
          <Sentence was={was} tab={title} />
        </p>
      )}
      <p>
        Nothing is left of it, not even incidents.{" "}
        {info && `The store is limited to ${bytes(info.max_bytes)} and discards the oldest data first. `}
        To keep more, raise <code>max_bytes</code> of thread_view, and set its <code>directory</code>, which survives
        restarts; or download a session that matters.
      </p>
      {tab !== "sessions" && (
        <Button text="Show available sessions" kind="primary" onClick={() => show({tab: "sessions"})} />
      )}
    </Empty>
  );
}

/** Above a session of which the time of a link is no longer stored. Otherwise, what the link says about itself has served. */
export function TimeGone({shown, session, title}: {shown: Shown; session: Session; title: string}) {
  const {was, view, range} = shown;
  const span = range ?? view;
  const gone =
    was !== null && (isEmptied(session) || (session.evicted > 0 && span !== null && span.from < session.from));
  useEffect(() => {
    if (was && !gone) show({was: null});
  }, [was, gone]);
  if (!gone) return null;
  return (
    <p class="banner" role="status">
      <Icon name="warn" />
      <span>
        <Sentence was={was} tab={title} />{" "}
        {span && !isEmptied(session) && span.to > session.from ? "A part of this time" : "This time"} is no longer
        stored; {session.incidents > 0 ? "incidents of it may be left." : "no incidents are left."} To keep more, raise{" "}
        <code>max_bytes</code> of thread_view.
      </span>
      <span class="apart" />
      <Button icon="close" label="Close" onClick={() => show({was: null, view: null, range: null})} />
    </p>
  );
}
