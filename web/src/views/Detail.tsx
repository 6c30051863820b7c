// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The selected interval: a sentence, the facts, and the stacks of both sides next to each other.
import {duration, exact, instant, percent, shortMethod} from "../lib/format";
import {mark} from "../lib/lanes";
import type {Interval} from "../lib/types";
import {confidenceHelp, type State, states, waitTitle} from "../lib/words";
import {show} from "../store";
import {Button, Fact, Frames, Problem, Swatch} from "../ui/parts";
import {go, IntervalName, KindName, LockName, SpanLink, ThreadName} from "./links";

export function Detail({interval, error}: {interval: Interval | null; error: string | null}) {
  if (!interval) {
    return (
      <section class="detail" aria-label="Interval">
        <Problem text={error} />
      </section>
    );
  }
  const state = states[interval.state] ?? "unknown";
  return (
    <section class="detail" aria-label="Interval">
      <Head interval={interval} state={state} />
      <div class="sides">
        <div class="facts">
          <p class="sentence">{interval.text}</p>
          <Facts interval={interval} state={state} />
        </div>
        <div class="stack" data-side="waited">
          <h3>{state === "runnable" ? "Where it last stopped" : `Where it ${verbs[state] ?? "was"}`}</h3>
          <Frames stack={interval.stack} empty="No stack was recorded." />
        </div>
        <OtherSide interval={interval} />
        <Call interval={interval} />
      </div>
    </section>
  );
}

const verbs: Partial<Record<State, string>> = {
  blocked: "was blocked",
  deadlocked: "is blocked forever",
  waiting: "waited",
  reentering: "waited",
  joining: "joined",
  sleeping: "slept",
  parked: "parked",
  queued: "was queued",
  idle: "waited",
  io: "waited",
};

function Head({interval, state}: {interval: Interval; state: State}) {
  const {marks, from, to, thread, previous, next} = interval;
  const flags = [
    marks & mark.timedOut && "timed out",
    marks & mark.interrupted && "interrupted",
    marks & mark.open && "in progress",
    marks & mark.partial && "began before the retained data",
  ].filter(Boolean);
  return (
    <header>
      <Swatch state={state} />
      <h2>{interval.title}</h2>
      <span class="big" title={exact(to - from)}>
        {duration(to - from)}
      </span>
      <span class="faint">
        on <ThreadName thread={thread} />, {instant(from, 1e3)} – {instant(to, 1e3)}
      </span>
      {flags.map((flag) => (
        <span class="badge" key={String(flag)}>
          {flag}
        </span>
      ))}
      {interval.deadlock && <span class="badge bad">deadlock</span>}
      <span class="apart" />
      <SpanLink span={interval.span} />
      <Button icon="left" label="Previous interval (←)" disabled={!previous} onClick={() => go(previous)} />
      <Button icon="right" label="Next interval (→)" disabled={!next} onClick={() => go(next)} />
      <Button icon="close" label="Close (Esc)" onClick={() => show({thread: 0, seq: 0})} />
    </header>
  );
}

function Facts({interval, state}: {interval: Interval; state: State}) {
  const {lock, wait, site, timeout, owner, cause, effects, more, held} = interval;
  return (
    <dl>
      <Fact name="Waits for">{waitTitle(wait)}</Fact>
      <Fact name="Lock">
        {lock && (
          <>
            {site?.lock && <strong>{site.lock}</strong>}
            <LockName lock={lock} />
          </>
        )}
      </Fact>
      <Fact name="In">
        {site?.function && (
          <span title={`${site.function} (${site.line})`}>
            {shortMethod(site.function)}
            {site.entry && site.entry !== site.function && (
              <span class="faint"> through {shortMethod(site.entry)}</span>
            )}
          </span>
        )}
      </Fact>
      <Holders interval={interval} />
      <Fact name="Timeout">{timeout > 0 && duration(timeout)}</Fact>
      {owner && (
        <Fact name={state === "joining" ? "Joining" : "Owner at start"}>
          <ThreadName thread={owner.thread} />
          {owner.interval && <IntervalName to={owner.interval} text={owner.interval.title} />}
        </Fact>
      )}
      {cause && (
        <Fact name="Ended by">
          <KindName kind={cause.kind} /> by <ThreadName thread={cause.thread} />
          <span class="faint" title={confidenceHelp[cause.confidence] ?? ""}>
            {cause.latency === 0 ? "at the same time" : `${duration(cause.latency)} earlier`}
            {cause.confidence === "exact" ? "" : `, ${cause.confidence}`}
          </span>
          {cause.interval && <IntervalName to={cause.interval} text="show" />}
          {cause.span?.url && <SpanLink span={cause.span} />}
        </Fact>
      )}
      <Fact name="Ended by">{!cause && interval.why}</Fact>
      {effects.length > 0 && (
        <Fact name="Unblocked" class="effects">
          {effects.map((effect) => (
            <span key={`${effect.interval.thread.id}.${effect.interval.seq}`}>
              <KindName kind={effect.kind} /> <IntervalName to={effect.interval} text={effect.interval.thread.name} />
              <span class="faint">{duration(effect.latency)}</span>
            </span>
          ))}
          {more > 0 && <span class="faint">and {more} more</span>}
        </Fact>
      )}
      <Fact name="Held locks">
        {held.length > 0 && held.map(({lock, from}) => <LockName key={`${lock.id}.${from}`} lock={lock} />)}
      </Fact>
    </dl>
  );
}

/** Who held what the thread waited for, the longest first. */
function Holders({interval: {holders}}: {interval: Interval}) {
  if (holders.length === 0) return null;
  return (
    <Fact name="Held by" class="effects">
      {holders.slice(0, mostHolders).map(({thread, time, share, doing, text}) => (
        <span key={thread.id}>
          <ThreadName thread={thread} /> {time > 0 && <strong title={duration(time)}>{percent(share)}</strong>}{" "}
          {doing && <IntervalName to={doing} text={text || doing.title} />}
        </span>
      ))}
      {holders.length > mostHolders && <span class="faint">and {holders.length - mostHolders} more</span>}
    </Fact>
  );
}

const mostHolders = 8;

/** The stack of the first call by which the thread unblocked others. */
function Call({interval: {effects}}: {interval: Interval}) {
  const call = effects.find((effect) => effect.stack);
  if (!call) return null;
  return (
    <div class="stack" data-side="called">
      <h3>Where it unblocked {call.interval.thread.name}</h3>
      <Frames stack={call.stack} empty="" />
    </div>
  );
}

/** The stack of the thread that held the lock or ended the wait. */
function OtherSide({interval: {holders, owner: first, cause}}: {interval: Interval}) {
  // The agent may have taken the stack of the owner at first; of another holder there is the stack of what it did longest.
  const longest = holders[0];
  const owner = longest && longest.thread.id !== first?.thread.id && longest.stack ? longest : (first ?? longest);
  if (!owner && !cause) return null;
  return (
    <div class="stack" data-side="held">
      <h3>
        {owner?.stack ? (
          <>
            Where it was held, by <ThreadName thread={owner.thread} />
          </>
        ) : cause ? (
          `Where ${cause.thread.name} unblocked it`
        ) : (
          "Where it was held"
        )}
      </h3>
      <Frames
        stack={owner?.stack ?? cause?.stack ?? null}
        empty="No stack was recorded for the other thread: it did not stop during this time."
      />
    </div>
  );
}
