// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A session of which only incidents are left.
import {count} from "../lib/format";
import type {Session} from "../lib/types";
import {show} from "../store";
import {Button, Empty} from "../ui/parts";

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
