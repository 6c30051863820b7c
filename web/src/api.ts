// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Requests to the server. Addresses are relative, so that the page works below any path.
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";

export type Parameters = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** The address of an answer. Empty parameters are left out, and lists repeat their parameter. */
export function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    if (Array.isArray(value)) for (const one of value as readonly string[]) query.append(key, one);
    else query.set(key, String(value));
  }
  const text = query.toString();
  return text === "" ? `api/${path}` : `api/${path}?${text}`;
}

/** An error in the words of the server, or of the network. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** There was no response. */
export function silence(): Failure {
  return new Failure("The collector does not respond. Is it running?", 0);
}

export async function ask<T>(url: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, {credentials: "same-origin", ...init});
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw silence();
  }
  if (!response.ok) throw new Failure(await reason(response), response.status);
  return (await response.json()) as T;
}

async function reason(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as {error?: string};
    if (body.error) return body.error;
  } catch {
    // Not the collector: a proxy responded.
  }
  return `The collector responded with ${response.status} ${response.statusText}`;
}

/** Milliseconds before a request is retried that got no response or found the server busy. */
export const retry = 3000;

export interface Answer<T> {
  data: T | null;
  error: string | null;
  /** The HTTP status of the error; 422 is a range that holds too much. 0: no response, or no error. */
  status: number;
  loading: boolean;
}

/**
 * Loads whenever `key` or `version` changes; a null key loads nothing. The old answer stays until the new one arrives, so
 * that tables do not flicker; an answer of another `kind` is dropped at once. Only another key cancels a load: a new
 * version every second would otherwise keep a slow server from ever answering.
 */
export function useLoaded<T>(
  key: string | null,
  version: unknown,
  load: (signal: AbortSignal) => Promise<T>,
  kind = "",
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({data: null, error: null, status: 0, loading: key !== null});
  const at = useRef({kind: "", version: undefined as unknown, busy: false, start: () => {}});
  // Before the browser paints, which may take longer than the answer.
  useLayoutEffect(() => {
    const now = at.current;
    const forget = now.kind !== kind || key === null;
    now.kind = kind;
    if (key === null) {
      setAnswer({data: null, error: null, status: 0, loading: false});
      now.start = () => {};
      return;
    }
    let abort = new AbortController();
    let timer = 0;
    now.start = () => {
      if (latest.current.key !== key) return; // rendered for another key, whose effect is about to run
      abort = new AbortController();
      const {signal} = abort;
      const begun = latest.current.version;
      now.busy = true;
      now.version = begun;
      const done = (change: (old: Answer<T>) => Answer<T>) => {
        if (signal.aborted) return;
        now.busy = false;
        setAnswer(change);
        if (latest.current.version !== begun) now.start();
      };
      latest.current.load(signal).then(
        (data) => done(() => ({data, error: null, status: 0, loading: false})),
        (error: Error) => {
          const status = error instanceof Failure ? error.status : 0;
          done((old) => ({data: old.data, error: error.message, status, loading: false}));
          const later = status === 0 || status === 503; // no response, or the server is busy
          if (later && !signal.aborted) timer = window.setTimeout(() => now.busy || now.start(), retry);
        },
      );
    };
    setAnswer((old) => ({data: forget ? null : old.data, error: null, status: 0, loading: true}));
    now.start();
    return () => {
      clearTimeout(timer);
      abort.abort();
      now.busy = false;
    };
  }, [key, kind]);
  const latest = useRef({key, version, load});
  latest.current = {key, version, load};
  useEffect(() => {
    const now = at.current;
    if (!now.busy && now.version !== version) now.start();
  }, [version]);
  return answer;
}

/** Loads an address; null or an empty one loads nothing. */
export function useAnswer<T>(url: string | null, version: unknown = 0): Answer<T> {
  return useLoaded<T>(url || null, version, (signal) => ask<T>(url!, {signal}), url?.split("?")[0]);
}

/**
 * Loads all rows of a list, up to `most`: as many pages at once as it probably has (`expected` rows), then all missing ones at
 * once. An answer can hold fewer rows than a page, because answers are also limited in bytes.
 */
export async function askAll<T extends {total: number}, R>(
  url: (offset: number, limit: number) => string,
  rows: (answer: T) => R[],
  {page, expected, most}: {page: number; expected: number; most: number},
  signal: AbortSignal,
): Promise<{total: number; rows: R[]}> {
  const all: R[] = [];
  for (let total = Math.max(expected, 1); ; ) {
    const offsets: number[] = [];
    for (let offset = all.length; offset < Math.min(total, most); offset += page) offsets.push(offset);
    const pages = await Promise.all(offsets.map((offset) => ask<T>(url(offset, page), {signal})));
    const before = all.length;
    for (const [i, one] of pages.entries()) {
      if (offsets[i] !== all.length) break;
      all.push(...rows(one));
    }
    total = pages[0]!.total;
    if (all.length >= Math.min(total, most) || all.length === before) return {total, rows: all};
  }
}

/** Copies a text to the clipboard. The modern API works over TLS and on localhost only; otherwise the old one is used. */
export async function copy(text: string): Promise<void> {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch {
      // Not allowed here: try the old API.
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Saves a file that the page made itself. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
