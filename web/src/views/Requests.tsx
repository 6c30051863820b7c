// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The slowest requests of the application: how long they waited, for what, and who held it.
import {useMemo, useState} from "preact/hooks";
import {copy, type Parameters} from "../api";
import {scope, usePart} from "../known";
import {count, duration, instant, shortMethod} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Sort} from "../lib/table";
import type {Request, RequestName, Requests, RequestWait} from "../lib/types";
import {waitTitle} from "../lib/words";
import {show} from "../store";
import {Icon} from "../ui/Icon";
import {Button, Empty, Problem, Share} from "../ui/parts";
import {Table} from "../ui/Table";
import type {Column} from "../ui/tableState";
import {countColumn, less, timeColumn} from "./columns";
import {Pages} from "./Pages";
import {Panel} from "./Panel";

const most = 100;

export function RequestsView({shown}: {shown: Shown}) {
  const [sort, setSort] = useState<Sort>({key: "time", order: "desc"});
  const names = useMemo(() => nameColumns(), []);
  const columns = useMemo(() => requestColumns(), []);
  const parameters: Parameters = {...scope(shown), name: shown.routes, sort: sort.key, order: sort.order};
  const [offset, setOffset] = useOffset(JSON.stringify(parameters));
  const {data, error, loading} = usePart<Requests>("requests", {...parameters, offset, limit: most});
  if (data && !data.known) return <HowTo />;
  return (
    <div class="requests-view">
      <Problem text={error} />
      <Panel title="Routes" hint={routesHint(data, shown)} table="requests" parameters={parameters}>
        <Table<RequestName, string>
          label="Routes"
          name="routes"
          columns={names}
          rows={data?.names ?? []}
          id={({name}) => name}
          sort={{key: "waited", order: "desc"}}
          chosen={shown.routes}
          onChoose={(routes) => show({routes})}
          multiple
          loading={loading}
          empty="No request that waited in this range."
        />
      </Panel>
      <Panel
        title="Requests"
        hint={requestsHint(data)}
        pages={data && <Pages of="requests" offset={offset} size={most} total={data.total} onMove={setOffset} />}
        table="requests"
        parameters={parameters}
        extra={shown.range && <Button text="Show all" onClick={() => show({range: null})} />}
      >
        <Table<Request, string>
          label="Requests"
          name="requests"
          columns={columns}
          rows={data?.requests ?? []}
          id={({trace_id}) => trace_id}
          sort={sort}
          onSort={setSort}
          onOpen={showRequest}
          loading={loading}
          empty="No request that waited in this range."
        />
      </Panel>
    </div>
  );
}

/** The first request on the page; another list starts with its first page. */
function useOffset(list: string): [number, (offset: number) => void] {
  const [at, setAt] = useState({list, offset: 0});
  return [at.list === list ? at.offset : 0, (offset) => setAt({list, offset})];
}

function routesHint(data: Requests | null, {routes}: Shown): string {
  const more = data?.hidden ? `; ${count(data.hidden)} further names are left out` : "";
  return (routes.length > 0 ? `${routes.length} selected` : "click to list only the requests of a route") + more;
}

function requestsHint(data: Requests | null): string {
  if (!data) return "";
  const seen = data.requests.some(({whole}) => !whole)
    ? "; ≥ is from first to last seen: weft-otel.jar reports the whole time of a request once it ends"
    : "";
  return `click to see all its threads; requests that never waited are not listed${seen}`;
}

/** Shows what all threads of a request did, and who held what it waited for longest. */
function showRequest({from, to, time, threads, worst}: Request): void {
  const ids = threads.map(({id}) => id);
  const cause = worst?.holder?.thread ?? worst?.ended_by;
  const cast = [...new Set(cause ? [...ids, cause.id] : ids)];
  const margin = Math.max(Math.round(time / 8), 1000);
  show({
    tab: "threads",
    view: {from: Math.max(0, from - margin), to: to + margin},
    range: {from: Math.max(0, from), to: Math.max(to, from + 1)},
    follow: false,
    cast,
    thread: ids[0] ?? 0,
    seq: 0,
  });
}

function waitText(wait: RequestWait | null): string {
  if (!wait) return "";
  const {object, wait: kind, method, time} = wait;
  return `${duration(time)} ${object ? `for ${object}` : waitTitle(kind)}${object || !method ? "" : ` in ${shortMethod(method)}`}`;
}

function heldBy(wait: RequestWait | null): string {
  if (!wait) return "";
  const {holder, ended_by} = wait;
  if (!holder) return ended_by ? `${ended_by.name} ended it` : "";
  return holder.text ? `${holder.thread.name}, ${holder.text}` : holder.thread.name;
}

function waitTip(wait: RequestWait | null): string {
  return wait
    ? `${wait.interval.thread.name}: ${wait.interval.title}${wait.method && ` in ${shortMethod(wait.method)}`}`
    : "";
}

const noName = "(name not known)";

function shareColumn<R extends {share: number; waited: number}>(): Column<R> {
  return {
    key: "share",
    title: "Waiting",
    help: "Part of the time in which at least one thread of the request waited",
    value: ({share}) => share,
    show: ({share}) => <Share share={share} />,
    tip: ({waited}) => duration(waited),
  };
}

function nameColumns(): Column<RequestName>[] {
  const worst = (row: RequestName) => row.cause?.worst ?? null;
  const main = ({cause}: RequestName) => (cause ? `${duration(cause.time)} ${cause.title}` : "");
  const heldFor = ({held}: RequestName, who: string) =>
    held ? `${duration(held.time)} ${held.title}, longest held by ${who || "an unknown thread"}` : "";
  return [
    {
      key: "name",
      title: "Route or span",
      grow: true,
      width: 150,
      value: ({name}) => name || noName,
      tip: ({name}) => name,
    },
    less(
      2,
      countColumn("count", "Requests", "Requests that waited", (row) => row.count),
    ),
    less(
      3,
      timeColumn("p50", "Median", "Half of the requests took at most this long", (row) => row.p50),
    ),
    timeColumn("p95", "95 %", "95 % of the requests took at most this long", (row) => row.p95),
    timeColumn("max", "Longest", "Time of the slowest request", (row) => row.max),
    timeColumn("waited", "Waited", "Time in which requests waited, all together", (row) => row.waited),
    shareColumn(),
    {
      key: "cause",
      title: "Mainly",
      grow: true,
      width: 180,
      help: "What the requests waited for longest, all together",
      value: main,
      tip: (row) => waitTip(worst(row)),
    },
    {
      key: "holder",
      title: "Held by others",
      grow: true,
      width: 230,
      help: "All together, and who held it during the longest of these waits",
      value: (row) => heldFor(row, row.held?.worst?.holder?.thread.name ?? ""),
      tip: (row) => heldFor(row, heldBy(row.held?.worst ?? null)),
    },
  ];
}

/** Columns by which the server sorts have the names of its fields. */
function requestColumns(): Column<Request>[] {
  return [
    {
      key: "name",
      title: "Request",
      grow: true,
      width: 150,
      value: ({name}) => name || noName,
      tip: ({name, trace_id}) => `${name || noName}, trace ${trace_id}`,
    },
    {key: "from", title: "Start", priority: 2, value: ({from}) => from, show: ({from}) => instant(from)},
    {
      key: "time",
      title: "Time",
      help: "From its start to its end; ≥ if only from first to last seen",
      value: ({time}) => time,
      show: ({time, whole, open}) => `${whole ? "" : "≥ "}${duration(time)}${open ? " so far" : ""}`,
    },
    shareColumn(),
    {
      key: "worst",
      title: "Longest wait",
      grow: true,
      width: 190,
      value: ({worst}) => waitText(worst),
      tip: ({worst}) => waitTip(worst),
    },
    {
      key: "holder",
      title: "Held up by",
      grow: true,
      width: 200,
      value: ({worst}) => heldBy(worst),
      tip: ({worst}) => heldBy(worst),
    },
    {
      key: "touched",
      title: "Threads",
      priority: 3,
      value: ({touched}) => touched,
      tip: ({threads}) => threads.map(({name}) => name).join(", "),
    },
    {key: "trace", title: "Trace", width: 112, value: ({trace_id}) => trace_id, show: (row) => <Trace request={row} />},
  ];
}

/** A link to the trace in Jaeger or Tempo; without an address, its ID to copy. */
function Trace({request: {url, trace_id, name}}: {request: Request}) {
  const label = `trace ${trace_id} of ${name || noName}`;
  const text = (
    <>
      {trace_id.slice(0, 8)}… <span class="visually-hidden">trace of {name || noName}</span>
    </>
  );
  return url ? (
    <a
      class="link"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      title={`Open ${label}`}
      onClick={(e) => e.stopPropagation()}
    >
      <Icon name="out" /> {text}
    </a>
  ) : (
    <button
      type="button"
      class="link"
      title={`Copy the ID of ${label}`}
      onClick={(e) => {
        e.stopPropagation();
        void copy(trace_id);
      }}
    >
      {text}
    </button>
  );
}

const commands = {
  "With OpenTelemetry's Java agent":
    "java -javaagent:opentelemetry-javaagent.jar -Dotel.javaagent.extensions=/path/to/weft-otel.jar \\\n" +
    "    -agentpath:/path/to/libweft.so=service=orders -jar orders.jar",
  "With OpenTelemetry's SDK in the application":
    "java -agentpath:/path/to/libweft.so=service=orders \\\n" +
    "    -cp orders.jar:/path/to/weft-otel.jar com.acme.orders.Main",
};

function HowTo() {
  return (
    <div class="requests-view">
      <Empty title="No requests are known">
        <p>
          This tab lists the slowest requests, for what they waited and who held it, once the agent reports the current
          spans of the application. The extension weft-otel.jar passes them on:
        </p>
        {Object.entries(commands).map(([title, text]) => (
          <div class="sample" key={title}>
            <h3>{title}</h3>
            <pre>{text}</pre>
            <Button text="Copy" label={`Copy the command: ${title}`} onClick={() => void copy(text)} />
          </div>
        ))}
        <p>
          A request is listed once it has waited. “weft attach PID status=now” says whether the agent gets the spans.
        </p>
      </Empty>
    </div>
  );
}
