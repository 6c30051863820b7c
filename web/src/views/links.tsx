// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Names of threads, locks, intervals and spans as links.
import {useKnown} from "../known";
import {shortClass} from "../lib/format";
import type {LockRef, Reference, ThreadRef, Span as TraceSpan} from "../lib/types";
import {type Kind, kindTitle} from "../lib/words";
import {show} from "../store";
import {Icon} from "../ui/Icon";
import {Link} from "../ui/parts";

export function ThreadName({thread}: {thread: ThreadRef}) {
  return <Link onClick={() => show({tab: "threads", thread: thread.id, seq: 0})}>{thread.name}</Link>;
}

export function LockName({lock}: {lock: LockRef}) {
  return (
    <Link
      title={`${lock.class}@${lock.hash}: show owners and queue`}
      onClick={() => show({tab: "locks", lock: lock.id})}
    >
      {shortClass(lock.class)}
      {lock.hash && <span class="faint">@{lock.hash}</span>}
    </Link>
  );
}

export function go(to: Reference | null): void {
  if (to) show({thread: to.thread.id, seq: to.seq, follow: false});
}

export function IntervalName({to, text}: {to: Reference; text: string}) {
  return (
    <Link title={`${to.thread.name}: ${to.title}`} onClick={() => go(to)}>
      {text}
    </Link>
  );
}

export function KindName({kind}: {kind: number}) {
  const {info} = useKnown();
  const name = info?.interactions[kind] as Kind | undefined;
  return <span style={{color: `var(--kind-${name})`}}>{name ? kindTitle[name] : "?"}</span>;
}

/** A link to the span in Jaeger or Tempo; without an address, its IDs to copy. */
export function SpanLink({span}: {span: TraceSpan | null}) {
  if (!span) return null;
  if (span.url === "") {
    return (
      <span class="faint" title={`trace ${span.trace_id}, span ${span.span_id}`}>
        span {span.span_id}
      </span>
    );
  }
  return (
    <a class="button" href={span.url} target="_blank" rel="noopener noreferrer">
      <Icon name="out" />
      Span
    </a>
  );
}
