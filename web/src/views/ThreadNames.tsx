// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The names of threads and groups next to their lanes, and the tooltip over a lane.
import {useMemo} from "preact/hooks";
import {stackNumbers} from "../lib/areas";
import {rowOf} from "../lib/arrange";
import {count, duration, instant, many, percent, px, shortMethod} from "../lib/format";
import {noState} from "../lib/lanes";
import {costOf, isDeadlocked, type Row} from "../lib/rows";
import type {ThreadRow} from "../lib/types";
import {show} from "../store";
import {threadsText} from "../timeline/areas";
import {label} from "../timeline/draw";
import {turnGroup} from "../timeline/keys";
import type {ThreadsPlane} from "../timeline/threads";
import {Icon} from "../ui/Icon";
import {Name} from "../ui/parts";
import {gutterWidth} from "./stage";
import {describeGroup, type Hover} from "./threadsPlane";

interface NamesProps {
  rows: Row[];
  sight: {top: number; height: number};
  /** The ID of the selected thread. */
  chosen: number;
  /** The name of the selected group of virtual threads. */
  chosenGroup: string;
  folded: ReadonlySet<string>;
}

/** The names in sight. Zooming does not change them, so a frame does not build them again. */
export function Names({rows, sight, chosen, chosenGroup, folded}: NamesProps) {
  return useMemo(
    () => (
      <>
        {rows
          .filter((row) => row.top + row.height > sight.top && row.top < sight.top + sight.height)
          .map((row) =>
            row.kind === "group" ? (
              <GroupName
                key={`g${row.key || row.name}`}
                row={row}
                folded={folded}
                chosen={row.key !== "" && row.key === chosenGroup}
              />
            ) : row.kind === "virtual" ? (
              <VirtualName key={`v${row.key}`} row={row} chosen={row.key === chosenGroup} />
            ) : (
              <ThreadLane key={row.thread.id} row={row} chosen={row.thread.id === chosen} />
            ),
          )}
      </>
    ),
    [rows, sight, chosen, chosenGroup, folded],
  );
}

function placeOf({top, height}: Row) {
  return {top: px(top), height: px(height)};
}

interface GroupNameProps {
  row: Row & {kind: "group"};
  folded: ReadonlySet<string>;
  chosen: boolean;
}

function GroupName({row, folded, chosen}: GroupNameProps) {
  const turn = () => {
    if (row.key) {
      turnGroup(row.key);
      return;
    }
    const next = new Set(folded);
    if (!next.delete(row.name)) next.add(row.name);
    show({folded: [...next]});
  };
  return (
    <button
      type="button"
      class={`name head ${chosen ? "chosen" : ""}`}
      style={placeOf(row)}
      aria-expanded={!row.folded}
      onClick={turn}
    >
      <Icon name={row.folded ? "right" : "down"} />
      <Name name={row.name} />
      {row.key !== rowOf.rest && <span class="faint">{row.members.length}</span>}
    </button>
  );
}

/** A group of virtual threads or a pool: its name, how many there are, and how many of them are shown. */
function VirtualName({row, chosen}: {row: Row & {kind: "virtual"}; chosen: boolean}) {
  const {group, open, members, pool, idle} = row;
  const share = group.time > 0 ? group.blocked.time / group.time : 0;
  return (
    <button
      type="button"
      class={`name virtual ${chosen ? "chosen" : ""}`}
      style={placeOf(row)}
      aria-expanded={open}
      title={describeGroup(row)}
      onClick={() => turnGroup(row.key)}
    >
      <Icon name={open ? "down" : "right"} />
      <span class="two-lines">
        <Name name={pool ? group.name : shortMethod(group.name)} />
        <span class="faint">
          {pool
            ? poolText(group.threads, idle, open ? members.length : 0)
            : open && members.length < group.threads
              ? `${count(members.length)} of ${count(group.threads)}, ${costOf(group).words}`
              : `${count(group.threads)} virtual, ${count(group.alive)} alive`}
        </span>
      </span>
      <span class={share >= 0.0005 ? "hot" : "faint"}>{share >= 0.0005 ? percent(share) : ""}</span>
    </button>
  );
}

function poolText(threads: number, idle: number, open: number): string {
  const shown = (open > 0 && open < threads ? `${count(open)} of ` : "") + many(threads, "thread");
  return idle > 0 ? `${shown}, ${count(idle)} idle` : shown;
}

function ThreadLane({row, chosen}: {row: Row & {kind: "thread"}; chosen: boolean}) {
  const {thread} = row;
  const stuck = isDeadlocked(thread);
  const share = thread.time > 0 ? thread.blocked.time / thread.time : 0;
  return (
    <button
      type="button"
      tabIndex={-1}
      class={`name ${chosen ? "chosen" : ""} ${thread.dead ? "dead" : ""} ${stuck ? "stuck" : ""}`}
      style={placeOf(row)}
      title={describe(thread)}
      onClick={() => show({thread: thread.id, seq: 0})}
    >
      {thread.virtual && <span class="indent" />}
      {stuck && <Icon name="warn" />}
      <Name name={thread.name} />
      <span class={share >= 0.0005 ? "hot" : "faint"}>{share >= 0.0005 ? percent(share) : ""}</span>
    </button>
  );
}

function describe({name, id, group, daemon, virtual, dead, blocked, waited}: ThreadRow): string {
  const kind = `${daemon ? ", daemon" : ""}${virtual ? ", virtual" : ""}${dead ? ", ended" : ""}`;
  const times = `blocked for ${duration(blocked.time)} (${blocked.count}×), waited for ${duration(waited.time)} (${waited.count}×)`;
  return `${name}\nID ${id}, group ${group || "unknown"}${kind}\n${times}`;
}

/** How many threads of a group were in which state, those with the most first. */
function inStates(counts: Float64Array): string {
  const list = stackNumbers.filter((state) => counts[state]! >= 0.005).sort((a, b) => counts[b]! - counts[a]!);
  return list.map((state) => `${threadsText(counts[state]!)} ${label(state)}`).join(", ") || "none";
}

export function Tip({hover: {hit, group, x, y}, name, plane}: {hover: Hover; name: string; plane: ThreadsPlane}) {
  const right = x + gutterWidth > plane.width * 0.7;
  const side = right ? {right: px(plane.width - x + 14)} : {left: px(x + gutterWidth + 14)};
  return (
    <div class="tip" style={{...side, top: px(y + 16)}}>
      <strong>{name}</strong>
      {group && <span>{inStates(group.counts)}</span>}
      {hit && (
        <span>
          {hit.rest !== noState
            ? `mixed: ${label(hit.state)} ${percent(hit.share)}, ${label(hit.rest)} …`
            : `${hit.label} about ${duration(hit.to - hit.from)}`}
        </span>
      )}
      <span class="faint">{instant((hit ?? group)!.time, (plane.view.to - plane.view.from) / 1000)}</span>
    </div>
  );
}
