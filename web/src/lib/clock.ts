// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Points in time as clocks show them, in the local time zone. All are milliseconds since the Unix epoch.

/** The start of a session plus nanoseconds. */
export function moment(origin: string, ns = 0): number {
  return Number((BigInt(origin) + BigInt(Math.round(ns))) / 1_000_000n);
}

/** The date: 2026-03-28. */
function day(ms: number): string {
  return new Date(ms).toLocaleDateString("sv");
}

/** The time, and the date unless that is the date of `now`: 19:05:12, or 2026-03-28 19:05:12. */
export function clock(ms: number, now = Date.now()): string {
  const time = new Date(ms).toLocaleTimeString("sv");
  return day(ms) === day(now) ? time : `${day(ms)} ${time}`;
}

/** Two times; the date of the second one only if it differs: 2026-03-28 19:05:12 – 19:06:00. */
export function clocks(from: number, to: number, now = Date.now()): string {
  return `${clock(from, now)} – ${clock(to, day(from) === day(now) ? now : from)}`;
}

/** The short name of the local time zone at a time: CET, or GMT+2. */
export function zone(ms = Date.now()): string {
  const parts = new Intl.DateTimeFormat("en-GB", {timeZoneName: "short"}).formatToParts(ms);
  return parts.find(({type}) => type === "timeZoneName")?.value ?? "local time";
}

/** The local time with its offset, as in ISO 8601: 2026-03-28T19:05:12+01:00. */
export function iso(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset();
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, "0");
  return `${day(ms)}T${new Date(ms).toLocaleTimeString("sv")}${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}
