// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Questions to the server. Addresses are relative, so that the page works below any path.
import {useEffect, useRef, useState} from "preact/hooks";

export type Parameters = Record<string, string | number | boolean | readonly string[] | null | undefined>;

/** The address of an answer; parameters that are empty are left out, lists are repeated. */
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

/** The server's own words for what is wrong, or what the network said. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export async function ask<T>(url: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, {credentials: "same-origin", ...init});
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Failure("The collector does not answer. Is it still running?", 0);
  }
  if (!response.ok) throw new Failure(await reason(response), response.status);
  return (await response.json()) as T;
}

async function reason(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as {error?: string};
    if (body.error) return body.error;
  } catch {
    // Not ours: a proxy answered.
  }
  return `The collector answered ${response.status} ${response.statusText}`;
}

export interface Answer<T> {
  data: T | null;
  error: string | null;
  loading: boolean;
}

/**
 * Asks again whenever the address or `version` changes; null asks nothing. Until the new answer is there the old one
 * stays, so that a table does not flicker while one selects.
 */
export function useAnswer<T>(url: string | null, version: unknown = 0): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({data: null, error: null, loading: url !== null});
  const asked = useRef<string | null>(null);
  // version is no value that is read, but a reason to ask again
  useEffect(() => {
    if (url === null) {
      setAnswer({data: null, error: null, loading: false});
      return;
    }
    const abort = new AbortController();
    const another = asked.current?.split("?")[0] !== url.split("?")[0];
    asked.current = url;
    setAnswer((old) => ({data: another ? null : old.data, error: null, loading: true}));
    ask<T>(url, {signal: abort.signal}).then(
      (data) => setAnswer({data, error: null, loading: false}),
      (error: Error) => {
        if (!abort.signal.aborted) setAnswer((old) => ({data: old.data, error: error.message, loading: false}));
      },
    );
    return () => abort.abort();
  }, [url, version]);
  return answer;
}

/** Asks for all pages of a list, up to `most` rows. */
export async function askAll<T extends {total: number}, R>(
  url: (offset: number) => string,
  rows: (answer: T) => R[],
  most: number,
  signal: AbortSignal,
): Promise<{first: T; rows: R[]}> {
  const first = await ask<T>(url(0), {signal});
  const all = [...rows(first)];
  while (all.length < Math.min(first.total, most)) {
    const next = rows(await ask<T>(url(all.length), {signal}));
    if (next.length === 0) break;
    all.push(...next);
  }
  return {first, rows: all};
}

/** Offers a file to save that the page itself made. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
