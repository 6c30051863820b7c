// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The page before the first JVM: how to attach one, and which agents came and were refused.
import {useEffect, useState} from "preact/hooks";
import {address, useAnswer} from "../api";
import {clock, iso, zone} from "../lib/clock";
import {count} from "../lib/format";
import type {Door, Info, Refused as RefusedAgent} from "../lib/types";
import {useCopy} from "../ui/hooks";
import {Button} from "../ui/parts";

/** The time between two questions for refusals, in milliseconds; sessions come by themselves. */
const pause = 3000;

function useInfo(): Info | null {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setVersion((old) => old + 1), pause);
    return () => clearInterval(timer);
  }, []);
  return useAnswer<Info>(address("info"), version).data;
}

/** Options of the agent that lead it here. */
function options(door: Door | undefined): string[] {
  if (!door) return ["service=orders"];
  return [
    "service=orders",
    `endpoint=${door.endpoint}`,
    ...(door.endpoint.startsWith("tls:") ? ["ca-file=/path/to/ca.pem"] : []),
    ...(door.auth ? ["token-file=/path/to/token"] : []),
  ];
}

export function Welcome() {
  const info = useInfo();
  const door = info?.doors[0];
  const all = options(door);
  const agent = `-agentpath:/path/to/libweft.so=${all.join(",")}`;
  return (
    <div class="welcome">
      <h2>No JVM connected yet</h2>
      <p role="status">{info?.notice || "The first one appears here by itself. There are three ways to attach one:"}</p>
      <Way title="A running JVM" hint="as its user or as root; weft list shows process IDs">
        {`weft attach PID ${all.join(" ")}`}
      </Way>
      <Way title="From the start of a JVM" hint="libweft.so must be for its platform">
        {`java ${agent} -jar orders.jar`}
      </Way>
      <Way title="With OpenTelemetry's Java agent" hint="then waits appear in the traces of requests, too">
        {`java -javaagent:opentelemetry-javaagent.jar -Dotel.javaagent.extensions=/path/to/weft-otel.jar ${agent} -jar orders.jar`}
      </Way>
      <p class="hint">
        In Kubernetes, the Helm chart installs collectors and says how pods connect: see docs/kubernetes.md of Weft.{" "}
        {info &&
          !door &&
          "This process has no receiver for agents: endpoint is the address of a collector that has one."}
      </p>
      {info && <Refused refused={info.refused} />}
    </div>
  );
}

function Way({title, hint, children}: {title: string; hint: string; children: string}) {
  const [copied, copy] = useCopy();
  return (
    <section aria-label={title}>
      <h3>
        {title} <span class="hint">({hint})</span>
      </h3>
      <div class="command">
        <code>{children}</code>
        <Button
          icon="copy"
          label={copied ? "Copied" : `Copy the command: ${title}`}
          {...(copied ? {text: "Copied"} : {})}
          onClick={() => void copy(children)}
        />
      </div>
    </section>
  );
}

/** Agents, and other programs, that the receiver of this process refused; nothing if there are none. */
export function Refused({refused}: {refused: RefusedAgent[]}) {
  if (refused.length === 0) return null;
  return (
    <section class="refused" aria-label="Refused connections">
      <h3>
        Connections that were refused <span class="hint">(times are {zone()})</span>
      </h3>
      <ul>
        {refused.map((one) => (
          <li key={`${one.remote} ${one.at} ${one.reason}`}>
            <time dateTime={iso(one.at)} title={iso(one.at)}>
              {clock(one.at)}
            </time>{" "}
            <strong>{one.service || (one.pid ? "an agent" : "an unknown program")}</strong>
            {one.pid > 0 && `, PID ${one.pid}`} from {one.remote}
            {one.times > 1 && ` (${count(one.times)} times)`}: {one.reason}. <span class="remedy">{one.remedy}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
