// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// What cost the most: a row for each lock, pool, task or latch that threads waited for, which leads to its incidents.
import {scope, useKnown, usePart} from "../known";
import {duration, exact, instant, many, percent} from "../lib/format";
import type {Shown} from "../lib/link";
import type {CauseRow, Causes} from "../lib/types";
import {waits, waitTitle} from "../lib/words";
import {show} from "../store";
import {Button, Empty, Problem, Swatch} from "../ui/parts";
import {Sentence} from "./Answer";

export function CausesView({shown}: {shown: Shown}) {
  const {session} = useKnown();
  const {data, error} = usePart<Causes>("causes", scope(shown));
  return (
    <div class="incidents" aria-busy={!data && !error}>
      <Problem text={error} />
      {data && data.causes.length > 0 && (
        <ul class="incident-list" aria-label="Causes">
          {data.causes.map((cause, i) => (
            <Row key={`${cause.kind}.${cause.name || i}`} cause={cause} causes={data} />
          ))}
          {data.small > 0 && (
            <li class="incident-sum hint">{`${data.small} more, each less than 10 ms or 1 % of the time.`}</li>
          )}
        </ul>
      )}
      {data?.causes.length === 0 && (
        <Empty title="No thread of the application waited for long">
          <p>
            {session?.incidents
              ? `Shorter episodes are in Incidents: ${session.incidents} are kept.`
              : "Idle workers and the JVM's own threads do not count. Look at Monitor statistics for waits of all kinds."}
          </p>
          <Button text="Show what the threads did" kind="primary" onClick={() => show({tab: "threads"})} />
        </Empty>
      )}
    </div>
  );
}

function Row({cause, causes}: {cause: CauseRow; causes: Causes}) {
  const {kind, name, text, time, threads, stuck, incidents, dumps, routes} = cause;
  return (
    <li class="incident">
      <div class="cause-row">
        <Trend cause={cause} causes={causes} />
        <span class="cause-kind">
          <Swatch state={waits[kind]?.state ?? "unknown"} /> {waitTitle(kind) || kind}
        </span>
        <span class="cause-text">
          <Sentence text={text} cost={cause} />
          {routes.length > 0 && time > 0 && (
            <span class="where">
              Requests: {routes.map((one) => `${one.name || "without a name"} ${percent(one.time / time)}`).join(", ")}
            </span>
          )}
        </span>
        <span class="cost" title={dumps ? "" : `${many(threads, "thread")} waited ${exact(time)} all together`}>
          <strong>{dumps ? `${dumps.waited} of ${dumps.taken}` : duration(time)}</strong>
          <small>{stuck > 0 ? "never ends" : dumps ? "dumps" : "waited"}</small>
        </span>
        <span>
          {incidents > 0 && (
            <Button
              text={many(incidents, "incident")}
              label={`Show ${many(incidents, "incident")} of ${name}`}
              onClick={() => show({tab: "incidents", about: name, kinds: []})}
            />
          )}
        </span>
      </div>
    </li>
  );
}

/** The waiting time over the range, as bars: the highest one has the most of this cause. */
function Trend({cause: {trend}, causes: {from, step}}: {cause: CauseRow; causes: Causes}) {
  const most = Math.max(1, ...trend);
  const peak = from + trend.indexOf(most) * step;
  return (
    <svg
      class="trend"
      role="img"
      aria-label={`Most at ${instant(peak, step)}`}
      viewBox={`0 0 ${trend.length} 20`}
      preserveAspectRatio="none"
    >
      <title>{`Waiting over time: most from ${instant(peak, step)} on`}</title>
      {trend.map((time, i) => {
        const height = time > 0 ? Math.max(1, (20 * time) / most) : 0;
        return height > 0 && <rect key={i} x={i} y={20 - height} width={0.8} height={height} />;
      })}
    </svg>
  );
}
