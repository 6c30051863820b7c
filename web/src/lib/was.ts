// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a shared link says about its session in words, for the day on which the session is gone. Anyone can write a link: it is text, and short.

export interface Was {
  service: string;
  /** Start and end of what the link shows, in milliseconds since the Unix epoch; 0: unknown. */
  from: number;
  to: number;
  /** The selected thread and lock. */
  thread: string;
  lock: string;
}

/** The most characters of a name in a link. */
const most = 80;

/** A name without control characters, and those that reorder or hide others. */
function plain(text: string | null): string {
  return [...(text ?? "").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").trim()].slice(0, most).join("");
}

/** Times of links: from 2000 to 2100. */
function time(text: string | undefined): number {
  const ms = Number(text);
  return ms >= 946_684_800_000 && ms < 4_102_444_800_000 ? ms : 0;
}

export function putWas(out: URLSearchParams, {service, from, to, thread, lock}: Was): void {
  out.set("was", plain(service));
  if (from) out.set("began", `${from}-${to}`);
  if (thread) out.set("who", plain(thread));
  if (lock) out.set("for", plain(lock));
}

export function getWas(query: URLSearchParams): Was | null {
  if (!query.has("was")) return null;
  const [from, to] = /^(\d{12,13})-(\d{12,13})$/.exec(query.get("began") ?? "")?.slice(1) ?? [];
  return {
    service: plain(query.get("was")),
    from: time(from),
    to: Math.max(time(from), time(to)),
    thread: plain(query.get("who")),
    lock: plain(query.get("for")),
  };
}
