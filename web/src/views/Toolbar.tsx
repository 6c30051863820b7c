// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The legend doubles as switches for states and arrows; next to it are path, grouping and filter.
import {useState} from "preact/hooks";
import {useKnown} from "../known";
import {type LaneOrder, orders} from "../lib/arrange";
import {count, extent} from "../lib/format";
import type {Shown} from "../lib/link";
import {type Grouping, isFiltering} from "../lib/rows";
import {toggled} from "../lib/table";
import type {Arrows, Path, ThreadSum} from "../lib/types";
import {
  arrowKinds,
  type Kind,
  kindHelp,
  kindTitle,
  legend,
  type State,
  stateHelp,
  states,
  stateTitle,
} from "../lib/words";
import {now, show} from "../store";
import {dashOf} from "../timeline/palette";
import {Menu} from "../ui/Popup";
import {Button, Choice, Swatch} from "../ui/parts";
import {FilterDialog} from "./FilterDialog";
import {modes, ThreadSelect} from "./Path";

interface Props {
  shown: Shown;
  arrows: Arrows | null;
  path: Path | null;
}

export function Toolbar({shown, arrows, path}: Props) {
  const [filtering, setFiltering] = useState(false);
  return (
    <div class="toolbar" role="toolbar" aria-label="Visualizer">
      <fieldset class="legend states" aria-label="States">
        {legend.map((state) => (
          <StateSwitch key={state} state={state} shown={shown} />
        ))}
        {endings.map(({name, help, path}) => (
          <span class="entry plain" key={name} data-mark={name} title={help}>
            <svg class={`ending ${name.replace(" ", "-")}`} viewBox="0 0 16 12" aria-hidden="true">
              <path class="bar" d="M0 3H16V12H0Z" />
              <path class="end" d={path} />
            </svg>
            {name}
          </span>
        ))}
      </fieldset>
      <fieldset class="legend kinds" aria-label="Arrows">
        {arrowKinds.map((kind) => (
          <ArrowSwitch key={kind} kind={kind} shown={shown} arrows={arrows} />
        ))}
      </fieldset>
      <div class="tools">
        <PathMenu shown={shown} path={path} />
        <Menu icon="group" label="Group threads (G)" text={groupings[shown.grouping]}>
          {(close) =>
            (Object.keys(groupings) as Grouping[]).map((grouping) => (
              <Choice
                key={grouping}
                group="grouping"
                checked={shown.grouping === grouping}
                onChange={() => {
                  show({grouping});
                  close();
                }}
              >
                {groupings[grouping]}
              </Choice>
            ))
          }
        </Menu>
        <OrderMenu shown={shown} />
        <Button
          icon="filter"
          label="Select the threads to show"
          text={isFiltering(shown.filter) ? "Threads: some" : "Threads: all"}
          pressed={isFiltering(shown.filter)}
          onClick={() => setFiltering(true)}
        />
      </div>
      {filtering && <FilterDialog filter={shown.filter} onClose={() => setFiltering(false)} />}
    </div>
  );
}

const orderTexts: Record<LaneOrder, [text: string, help: string]> = {
  cost: ["By cost", "contended waits in the range, then other waits of busy threads"],
  name: ["By name", ""],
  start: ["By start", ""],
  pool: ["By pool", "a row for each pool, with its threads over time"],
};

/** Choosing the same order again sorts the lanes of a live session anew. */
function OrderMenu({shown}: {shown: Shown}) {
  return (
    <Menu
      icon="order"
      label={`Order of the lanes: ${orderTexts[shown.order][0].toLowerCase()}`}
      text={shown.order === "cost" ? undefined : orderTexts[shown.order][0]}
    >
      {(close) =>
        orders.map((order) => (
          <Choice
            key={order}
            group="order"
            checked={shown.order === order}
            onChange={() => {
              show({order, sorted: shown.sorted + 1});
              close();
            }}
          >
            <span>
              {orderTexts[order][0]}
              <small>{orderTexts[order][1]}</small>
            </span>
          </Choice>
        ))
      }
    </Menu>
  );
}

/** How the end of a wait is marked on the lanes. */
const endings = [
  {name: "timed out", help: "A short box at the end of a wait: it timed out", path: "M12 3H16V12H12Z"},
  {name: "interrupted", help: "A wedge at the end of a wait: it was interrupted", path: "M9 0H16V8Z"},
];

const groupings: Record<Grouping, string> = {none: "No groups", group: "By thread group", pool: "By thread pool"};

function StateSwitch({state, shown}: {state: State; shown: Shown}) {
  const {threads, groups} = useKnown();
  const number = states.indexOf(state);
  const seen = ({states, ...sums}: ThreadSum) => {
    const sum = state === "idle" || state === "io" ? sums[state] : states[number];
    return !!sum && (sum.time > 0 || sum.count > 0);
  };
  const there = threads.some((thread) => (state === "dead" && thread.dead) || seen(thread)) || groups.some(seen);
  const on = !shown.hidden.includes(state);
  return (
    <button
      type="button"
      class={`entry ${there ? "" : "absent"}`}
      data-state={state}
      aria-pressed={on}
      title={`${stateHelp[state]}. Click to ${on ? "hide" : "show"}`}
      onClick={() => show({hidden: toggled(shown.hidden, state)})}
    >
      <Swatch state={state} />
      {stateTitle(state)}
    </button>
  );
}

function ArrowSwitch({kind, shown, arrows}: {kind: Kind; shown: Shown; arrows: Arrows | null}) {
  const {info} = useKnown();
  const on = shown.arrows.includes(kind);
  const counted = arrows?.kinds[info?.interactions.indexOf(kind) ?? -1];
  const drawn = counted ? counted.total - counted.hidden : 0;
  const hint = counted?.hidden
    ? ` Only the ${count(drawn)} longest of ${count(counted.total)} are drawn; zoom in for more.`
    : "";
  return (
    <button
      type="button"
      class="entry"
      data-kind={kind}
      aria-pressed={on}
      title={`${kindHelp[kind]}. Click to ${on ? "hide" : "show"}.${on ? hint : ""}`}
      onClick={() => show({arrows: toggled(shown.arrows, kind)})}
    >
      <svg class="arrow" style={{color: `var(--kind-${kind})`}} viewBox="0 0 22 10" aria-hidden="true">
        <path d="M1 5H15" stroke-dasharray={dashOf[kind].join(" ")} />
        <path class="head" d="M14 1.5L21 5L14 8.5Z" />
      </svg>
      {kindTitle[kind]}
      {on && counted && counted.total > 0 && (
        <span class="count">{counted.hidden ? `${count(drawn)}+` : count(counted.total)}</span>
      )}
    </button>
  );
}

function PathMenu({shown, path}: {shown: Shown; path: Path | null}) {
  const {byId} = useKnown();
  const owner = shown.pathThread ? byId.get(shown.pathThread)?.name : path?.thread.name;
  return (
    <div class="split">
      <Button
        icon="path"
        label="Show or hide the critical path (P)"
        text="Critical path"
        pressed={shown.path}
        kind="path"
        onClick={() => show({path: !now().path})}
      />
      <Menu label={`Critical path options${shown.path && owner ? ` (path of ${owner})` : ""}`} text="">
        {() => <PathChoices shown={shown} />}
      </Menu>
    </div>
  );
}

function PathChoices({shown}: {shown: Shown}) {
  const {byId, session} = useKnown();
  const {range, thread, pathThread} = shown;
  return (
    <div class="path-menu">
      <fieldset>
        <legend>Mode</legend>
        {Object.entries(modes).map(([mode, text]) => (
          <Choice
            key={mode}
            group="mode"
            checked={shown.mode === mode}
            onChange={() => show({mode: mode as Shown["mode"], path: true})}
          >
            <span>
              {mode[0]!.toUpperCase() + mode.slice(1)}
              <small>{text}</small>
            </span>
          </Choice>
        ))}
      </fieldset>
      <ThreadSelect label="Thread" otherwise="waited longest" shown={shown} patch={{path: true}} />
      <p class="hint">
        {range ? "For the selected range." : `For ${extent(session)}. Drag on the ruler to select a range.`}
      </p>
      {thread > 0 && thread !== pathThread && (
        <Button
          icon="path"
          text={`Path of ${byId.get(thread)?.name ?? "the selected thread"}`}
          onClick={() => show({pathThread: thread, path: true})}
        />
      )}
    </div>
  );
}
