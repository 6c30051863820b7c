// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import type {Deadlock} from "./types";

/** Whether no thread has left the cycle. */
export function isLive({until}: Pick<Deadlock, "until">): boolean {
  return until === 0;
}

/** Orders deadlocks that still exist before the others, and the newest first. */
export function liveFirst(a: Pick<Deadlock, "since" | "until">, b: Pick<Deadlock, "since" | "until">): number {
  return Number(isLive(b)) - Number(isLive(a)) || b.since - a.since;
}
