// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What is known of one interval: in a sentence, and both sides of it beside each other.
import {useKnown} from "../known";
import {duration, exact, instant, shortClass} from "../lib/format";
import {mark} from "../lib/lanes";
import type {Interval, LockRef, Reference, ThreadRef, Span as TraceSpan} from "../lib/types";
import {confidenceHelp, type Kind, kindTitle, states} from "../lib/words";
import {show} from "../store";
import {Icon} from "../ui/Icon";
import {Button, Frames, Problem, Swatch} from "../ui/parts";

export function Detail({interval, error}: {interval: Interval | null; error: string | null}) {
  const close = () => show({thread: 0, seq: 0});
  if (!interval) {
    return (
      <section class="detail" aria-label="Interval">
        <Problem text={error} />
      </section>
    );
  }
  const state = states[interval.state] ?? "unknown";
  const {cause, owner} = interval;
  const flags = [
    interval.marks & mark.timedOut && "timed out",
    interval.marks & mark.interrupted && "interrupted",
    interval.marks & mark.open && "still goes on",
    interval.marks & mark.partial && "began before what is remembered",
  ].filter(Boolean);
  return (
    <section class="detail" aria-label="Interval">
      <header>
        <Swatch state={state} />
        <h2>{interval.title}</h2>
        <span class="big" title={exact(interval.to - interval.from)}>
          {duration(interval.to - interval.from)}
        </span>
        <span class="faint">
          on <ThreadName thread={interval.thread} />, {instant(interval.from, 1e3)} – {instant(interval.to, 1e3)}
        </span>
        {flags.map((flag) => (
          <span class="badge" key={String(flag)}>
            {flag}
          </span>
        ))}
        {interval.deadlock && <span class="badge bad">deadlock</span>}
        <span class="apart" />
        <Open span={interval.span} />
        <Button
          icon="left"
          label="Interval before (←)"
          disabled={!interval.previous}
          onClick={() => go(interval.previous)}
        />
        <Button icon="right" label="Next interval (→)" disabled={!interval.next} onClick={() => go(interval.next)} />
        <Button icon="close" label="Close (Esc)" onClick={close} />
      </header>
      <div class="sides">
        <div class="facts">
          <p class="sentence">{interval.text}</p>
          <dl>
            {interval.lock && (
              <>
                <dt>Lock</dt>
                <dd>
                  <LockName lock={interval.lock} />
                </dd>
              </>
            )}
            {interval.timeout > 0 && (
              <>
                <dt>Timeout</dt>
                <dd>{duration(interval.timeout)}</dd>
              </>
            )}
            {owner && (
              <>
                <dt>{state === "joining" ? "Joins" : "Held by"}</dt>
                <dd>
                  <ThreadName thread={owner.thread} />
                  {owner.interval && <Go to={owner.interval} text={owner.interval.title} />}
                </dd>
              </>
            )}
            {cause && (
              <>
                <dt>Ended by</dt>
                <dd>
                  <KindName kind={cause.kind} /> of <ThreadName thread={cause.thread} />
                  <span class="faint" title={confidenceHelp[cause.confidence] ?? ""}>
                    {cause.latency === 0 ? "at that moment" : `${duration(cause.latency)} before`}
                    {cause.confidence === "exact" ? "" : `, ${cause.confidence}`}
                  </span>
                  {cause.interval && <Go to={cause.interval} text="go there" />}
                  {cause.span?.url && <Open span={cause.span} />}
                </dd>
              </>
            )}
            {!cause && interval.why && (
              <>
                <dt>Ended by</dt>
                <dd>{interval.why}</dd>
              </>
            )}
            {interval.effects.length > 0 && (
              <>
                <dt>Let go on</dt>
                <dd class="effects">
                  {interval.effects.map((effect) => (
                    <span key={`${effect.interval.thread.id}.${effect.interval.seq}`}>
                      <KindName kind={effect.kind} /> <Go to={effect.interval} text={effect.interval.thread.name} />
                      <span class="faint">{duration(effect.latency)}</span>
                    </span>
                  ))}
                  {interval.more > 0 && <span class="faint">and {interval.more} more</span>}
                </dd>
              </>
            )}
            {interval.held.length > 0 && (
              <>
                <dt>Held meanwhile</dt>
                <dd>
                  {interval.held.map((held) => (
                    <LockName key={`${held.lock.id}.${held.from}`} lock={held.lock} />
                  ))}
                </dd>
              </>
            )}
          </dl>
        </div>
        <div class="stack" data-side="waited">
          <h3>{state === "runnable" ? "Where it last stopped" : `Where it ${verb(state)}`}</h3>
          <Frames stack={interval.stack} empty="No stack was taken here." />
        </div>
        {(owner || cause) && (
          <div class="stack" data-side="held">
            <h3>
              {owner?.stack ? (
                <>
                  Where it was held, by <ThreadName thread={owner.thread} />
                </>
              ) : cause ? (
                <>Where {cause.thread.name} let it go on</>
              ) : (
                "Where it was held"
              )}
            </h3>
            <Frames
              stack={owner?.stack ?? cause?.stack ?? null}
              empty="No stack of the other side is known: it was not stopped meanwhile."
            />
          </div>
        )}
      </div>
    </section>
  );
}

function verb(state: string): string {
  const verbs: Record<string, string> = {
    blocked: "was blocked",
    deadlocked: "is blocked for ever",
    waiting: "waited",
    reentering: "waited",
    joining: "joined",
    sleeping: "slept",
    parked: "parked",
  };
  return verbs[state] ?? "was";
}

function go(to: Reference | null): void {
  if (to) show({thread: to.thread.id, seq: to.seq, follow: false});
}

function Go({to, text}: {to: Reference; text: string}) {
  return (
    <button type="button" class="link" title={`${to.thread.name}: ${to.title}`} onClick={() => go(to)}>
      {text}
    </button>
  );
}

export function ThreadName({thread}: {thread: ThreadRef}) {
  return (
    <button type="button" class="link" onClick={() => show({tab: "threads", thread: thread.id, seq: 0})}>
      {thread.name}
    </button>
  );
}

export function LockName({lock}: {lock: LockRef}) {
  return (
    <button
      type="button"
      class="link"
      title={`${lock.class}@${lock.hash}: who held it, who queued`}
      onClick={() => show({tab: "locks", lock: lock.id})}
    >
      {shortClass(lock.class)}
      {lock.hash && <span class="faint">@{lock.hash}</span>}
    </button>
  );
}

function KindName({kind}: {kind: number}) {
  const {info} = useKnown();
  const name = info?.interactions[kind] as Kind | undefined;
  return <span class={`kind kind-${name}`}>{name ? kindTitle[name] : "?"}</span>;
}

/** A link to the span in Jaeger or Tempo; without an address its ids are there to copy. */
function Open({span}: {span: TraceSpan | null}) {
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
