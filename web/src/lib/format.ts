// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Times are integer nanoseconds since the start of the session: exact in a double up to 2^53 ns, which is 104 days.

const units: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A duration with three digits and a readable unit: 1.38 ms, 12.4 s, 3 min 5 s. */
export function duration(ns: number): string {
  if (ns === 0) return "0";
  if (ns < 0) return `−${duration(-ns)}`;
  if (ns >= 600e9) {
    const seconds = Math.round(ns / 1e9);
    const minutes = Math.floor(seconds / 60);
    return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  for (const [size, name] of units) {
    // 999.6 ms would be shown as 1000 ms rather than 1 s.
    if (ns >= size * 0.9995 || size === 1) return `${three(ns / size)} ${name}`;
  }
  return "0";
}

function three(value: number): string {
  if (value >= 99.95) return String(Math.round(value));
  return value >= 9.995 ? value.toFixed(1).replace(/\.0$/, "") : value.toFixed(2).replace(/\.?0+$/, "");
}

/** All digits of a duration: 1,234,567 ns. */
export function exact(ns: number): string {
  return `${count(ns)} ns`;
}

/** A whole number with separators. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number with what is counted: "1 thread", "2 threads". */
export function many(value: number, one: string): string {
  return `${count(value)} ${one}${value === 1 ? "" : "s"}`;
}

/** A share in percent; "<0.1 %" for a tiny one. */
export function percent(share: number): string {
  if (!Number.isFinite(share) || share <= 0) return "0 %";
  if (share < 0.001) return "<0.1 %";
  const value = share * 100;
  return `${value >= 9.95 ? Math.round(value) : value.toFixed(1).replace(/\.0$/, "")} %`;
}

/** A point in time, with as many decimals as steps of `step` nanoseconds need. */
export function instant(ns: number, step = 1e6): string {
  const sign = ns < 0 ? "−" : "";
  const whole = Math.abs(Math.round(ns));
  const seconds = Math.floor(whole / 1e9);
  const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(1, step)) + 1e-9)));
  const fraction =
    digits === 0
      ? ""
      : `.${String(whole % 1e9)
          .padStart(9, "0")
          .slice(0, digits)}`;
  if (seconds < 60) return `${sign}${seconds}${fraction} s`;
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const clock = hours > 0 ? `${hours}:${two(minutes % 60)}` : String(minutes);
  return `${sign}${clock}:${two(seconds % 60)}${fraction}`;
}

/** Bytes with a binary unit. */
export function bytes(value: number): string {
  for (const [size, name] of [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ] as const) {
    if (value >= size) return `${three(value / size)} ${name}`;
  }
  return `${value} B`;
}

const primitives: Record<string, string> = {
  Z: "boolean",
  B: "byte",
  C: "char",
  S: "short",
  I: "int",
  J: "long",
  F: "float",
  D: "double",
};

/** The simple name of a class: OrderBook$Level for com.acme.OrderBook$Level. Arrays and lambdas stay readable. */
export function shortClass(name: string): string {
  const of = /^java\.lang\.Class<(.*)>$/.exec(name)?.[1]; // a lock that is a class itself
  if (of !== undefined) return `Class<${shortClass(of)}>`;
  const initialized = /^(.*)\.<clinit>$/.exec(name)?.[1]; // what threads wait for while another one initializes a class
  if (initialized !== undefined) return `class initialization of ${shortClass(initialized)}`;
  if (name.startsWith("java.util.concurrent.ConcurrentHashMap$")) return "ConcurrentHashMap"; // one of its bins
  const array = /^(\[+)(?:L(.+);|(.))$/.exec(name);
  if (array) return (array[2] ? shortClass(array[2]) : primitives[array[3] ?? ""]) + "[]".repeat(array[1]?.length ?? 0);
  const cut = name.split("/")[0] ?? name;
  // Locks of java.util.concurrent block on inner classes that users do not know.
  return cut.slice(cut.lastIndexOf(".") + 1).replace(/\$(NonfairSync|FairSync|Sync)$/, "") || name;
}

const endLength = 8;

/** The beginning and the end of a name. Threads of a pool differ at the end, so the beginning is cut. */
export function ends(name: string): [string, string] {
  return name.length <= endLength + 3 ? [name, ""] : [name.slice(0, -endLength), name.slice(-endLength)];
}

/** A name that fits, without its middle if it is too long. */
export function shortened(name: string, fits: (text: string) => boolean): string {
  const [begin, end] = ends(name);
  let text = name;
  for (let n = begin.length - 1; n > 0 && end && !fits(text); n--) text = `${begin.slice(0, n)}…${end}`;
  return text;
}

/** A method with the simple name of its class: OrderBook.match. */
export function shortMethod(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? name : `${shortClass(name.slice(0, dot))}.${name.slice(dot + 1)}`;
}

/** What is shown of a session without a range: all of it, unless its oldest windows were discarded. */
export function extent(session: {from: number; to: number} | null): string {
  return session && session.from > 0 ? `the last ${duration(session.to - session.from)}` : "the whole session";
}

/** A CSS length. */
export function px(length: number): string {
  return `${length}px`;
}

/** The time of day of a point in time of a session, which began at `origin`, in nanoseconds since the epoch; and with its date. */
export function timeOfDay(origin: string, ns: number): [string, string] {
  const date = new Date(Number(BigInt(origin) / 1_000_000n) + ns / 1e6);
  const whole = date.toLocaleString("sv"); // 2026-03-28 19:05:12
  return [whole.slice(11), `${whole}.${String(date.getMilliseconds()).padStart(3, "0")}`];
}

/** The parts of a text, and whether each is one of the names, which are marked where they first occur as whole words. */
export function marked(text: string, names: readonly string[]): [string, boolean][] {
  const found = names
    .map((name) => [name, name === "" ? -1 : whole(text, name)] as const)
    .filter(([, at]) => at >= 0)
    .sort((a, b) => a[1] - b[1]);
  const parts: [string, boolean][] = [];
  let end = 0;
  for (const [name, at] of found) {
    if (at < end) continue;
    parts.push([text.slice(end, at), false], [name, true]);
    end = at + name.length;
  }
  parts.push([text.slice(end), false]);
  return parts.filter(([part]) => part !== "");
}

/** Where a name first occurs as a whole word; -1: nowhere. */
function whole(text: string, name: string): number {
  const isWord = (c: string | undefined) => c !== undefined && /[\p{L}\p{N}_]/u.test(c);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!isWord(text[at - 1]) && !isWord(text[at + name.length])) return at;
  }
  return -1;
}
