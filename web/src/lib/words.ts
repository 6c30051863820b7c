// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// States and kinds of interactions, in the order in which the server numbers them, and their descriptions.

export const states = [
  "unknown",
  "runnable",
  "blocked",
  "waiting",
  "reentering",
  "joining",
  "sleeping",
  "parked",
  "deadlocked",
  "suspended",
  "dead",
  "queued",
  "idle",
  "io",
] as const;
export type State = (typeof states)[number];

export const stateHelp: Record<State, string> = {
  unknown: "History is missing: the agent was attached late, or events were lost",
  runnable: "Running or ready to run; the JVM does not report which",
  blocked:
    "Waiting for what other threads hold: a monitor, a lock of java.util.concurrent, a permit, or a pooled object",
  waiting: "In Object.wait, until notified, interrupted or timed out",
  reentering: "Notified or timed out, waiting to re-enter the monitor",
  joining: "Waiting for another thread to end",
  sleeping: "In Thread.sleep",
  parked: "In LockSupport.park, but not for a lock, a task or I/O: waiting for a result, a condition or an item",
  deadlocked: "Part of a cycle of waiting threads: it will never continue",
  suspended: "Suspended by Thread.suspend or a debugger",
  dead: "Ended",
  queued: "A virtual thread that could run and waits for a carrier, the platform thread to run on",
  idle: "Without work: a worker that waits for a task, or a timer for the time of the next one",
  io: "Reading or writing a file or a socket, or waiting for a process to end",
};

/** What a state is called on the page. */
export function stateTitle(state: State): string {
  return state === "io" ? "I/O" : state;
}

/** What the kinds of waits are called, and the state in whose color they are shown: contended ones as blocked. */
export const waits: Record<string, {title: string; state: State}> = {
  lock: {title: "lock", state: "blocked"},
  permit: {title: "permit of a semaphore or rate limiter", state: "blocked"},
  pool: {title: "pooled object", state: "blocked"},
  reenter: {title: "monitor, after a notify", state: "reentering"},
  condition: {title: "condition", state: "parked"},
  latch: {title: "latch", state: "parked"},
  barrier: {title: "barrier", state: "parked"},
  exchange: {title: "exchange", state: "parked"},
  future: {title: "result of a task", state: "parked"},
  queue: {title: "queue", state: "parked"},
  object: {title: "Object.wait", state: "waiting"},
  join: {title: "end of a thread", state: "joining"},
  io: {title: "I/O", state: "io"},
  sleep: {title: "sleep", state: "sleeping"},
  timer: {title: "next run of a timer", state: "idle"},
  idle: {title: "next task", state: "idle"},
  suspend: {title: "resume", state: "suspended"},
  park: {title: "unknown", state: "parked"},
  carrier: {title: "carrier", state: "queued"},
  pause: {title: "pause of the JVM", state: "suspended"},
};

export function waitTitle(kind: string): string {
  return waits[kind]?.title ?? "";
}

/** The order of the legend: the costliest states first. */
export const legend: State[] = [
  "blocked",
  "deadlocked",
  "reentering",
  "waiting",
  "parked",
  "io",
  "idle",
  "joining",
  "sleeping",
  "queued",
  "suspended",
  "runnable",
  "unknown",
  "dead",
];

/** The operations in the log. */
export const operations = [
  "block",
  "handoff",
  "wait",
  "notify",
  "notifyAll",
  "timeout",
  "join",
  "start",
  "end",
  "interrupt",
  "park",
  "unpark",
  "sleep",
  "deadlock",
  "suspend",
  "resume",
  "stop",
  "yield",
] as const;

export const kinds = ["none", "start", "handoff", "notify", "notify_all", "interrupt", "join", "unpark"] as const;
export type Kind = (typeof kinds)[number];

/** The kinds that have an arrow and an entry in the legend. */
export const arrowKinds: Kind[] = ["handoff", "notify", "notify_all", "join", "start", "interrupt", "unpark"];

export const kindTitle: Record<Kind, string> = {
  none: "none",
  start: "start",
  handoff: "release → acquire",
  notify: "notify",
  notify_all: "notifyAll",
  interrupt: "interrupt",
  join: "terminate → join",
  unpark: "unpark",
};

export const kindHelp: Record<Kind, string> = {
  none: "",
  start: "From the caller of Thread.start to the new thread",
  handoff: "From the thread that released a lock to the thread that acquired it",
  notify: "From the caller of Object.notify to the thread it woke; a stub if it woke none",
  notify_all: "From the caller of Object.notifyAll to each thread it woke; a stub if it woke none",
  interrupt: "From the caller of Thread.interrupt to the thread it woke",
  join: "From the thread that ended to the thread that joined it",
  unpark: "From the caller of LockSupport.unpark to the thread it woke",
};

export const confidenceHelp: Record<string, string> = {
  exact: "reported by the JVM, or the only possibility",
  fifo: "assumes that HotSpot wakes the longest waiter",
  inferred: "the last known owner",
  ambiguous: "several candidates match",
};

/** The kinds of pieces of a critical path. */
const pieces: Record<string, string> = {
  run: "runnable",
  sleep: "sleeping",
  suspended: "suspended",
  blocked_unknown: "blocked by an unknown thread",
  wait_unknown: "waiting for an unknown thread",
  timer: "waiting for a timeout",
  wake_latency: "woken, not running yet",
  start_latency: "started, not running yet",
  deadlock: "deadlocked",
  cycle: "waiting in a cycle",
  unknown: "unknown",
  too_deep: "not searched further",
  cut: "not searched",
  idle: "waiting for a task",
  run_queue: "waiting for a carrier",
};

export function pieceTitle(kind: string): string {
  return pieces[kind] ?? kind.replaceAll("_", " ");
}

export function stateNumber(name: State): number {
  return states.indexOf(name);
}

/** The kinds of incidents, in the order of their filter. */
export const incidentKinds = [
  "deadlock",
  "contention",
  "pool_exhausted",
  "carriers_starved",
  "lost_notify",
  "potential_deadlock",
] as const;
export type IncidentKind = (typeof incidentKinds)[number];

export const incidentHelp: Record<IncidentKind, string> = {
  deadlock: "Threads wait for each other in a cycle: they will never continue",
  contention: "Threads waited for a lock or a permit that others held",
  pool_exhausted: "Threads waited for an object of a pool, such as a connection",
  carriers_starved: "Virtual threads waited for a carrier, the platform thread to run on",
  lost_notify:
    "notify was called while no thread waited, and a thread that began to wait later was not notified. This is a bug only if it does not check its condition before it waits.",
  potential_deadlock:
    "Threads took two locks in opposite orders, at different times. If they do so at the same time, it is a deadlock.",
};
