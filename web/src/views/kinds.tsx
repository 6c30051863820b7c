// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The columns of waits by kind.
import {count} from "../lib/format";
import type {KindRow} from "../lib/types";
import {type State, stateTitle, waits, waitTitle} from "../lib/words";
import {Swatch} from "../ui/parts";
import type {Column} from "../ui/tableState";
import {countColumn, less, statsColumns} from "./columns";

const states: Record<string, State> = {
  blocked: "blocked",
  waited: "waiting",
  reenter: "reentering",
  parked: "parked",
  joined: "joining",
  sleeping: "sleeping",
  queued: "queued",
  suspended: "suspended",
};

/** Where the kind itself is the subject, its title would be too short. */
const names: Record<string, string> = {park: "park, for an unknown reason", unknown: "not known"};

function stateOf({state, wait}: KindRow): State {
  return waits[wait]?.state ?? states[state] ?? "unknown";
}

export function kindColumns(sum: KindRow | undefined): Column<KindRow>[] {
  const title = (row: KindRow) => (row === sum ? "Total" : names[row.wait] || waitTitle(row.wait) || row.wait);
  return [
    {
      key: "wait",
      title: "Kind",
      grow: true,
      width: 132,
      value: title,
      show: (row) => (
        <>
          {row !== sum && <Swatch state={stateOf(row)} />} {title(row)}
        </>
      ),
      tip: (row) => (row === sum ? "" : `${title(row)}: shown as ${stateTitle(stateOf(row))}`),
    },
    {
      key: "names",
      title: "What for",
      width: 96,
      help: "What the source calls it, the longest waits first",
      grow: true,
      value: (row) => (row === sum ? "" : named(row)),
      tip: ({most, names}) => most.join("\n") + (names > most.length ? `\nand ${count(names - most.length)} more` : ""),
    },
    ...statsColumns<KindRow>("stats", "waited", ({stats}) => stats, stateOf),
    less(
      3,
      countColumn("threads", "Threads", "Number of threads that waited", ({threads}) => threads),
    ),
    less(
      4,
      countColumn("objects", "Objects", "Number of lock objects", ({objects}) => objects),
    ),
  ];
}

function named({most, names}: KindRow): string {
  const first = most[0] ?? "";
  return names > 1 ? `${first} and ${count(names - 1)} more` : first || "–";
}
