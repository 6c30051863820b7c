// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The legend is the switch: states, kinds of arrows, the path, grouping and the filter.
import {useState} from "preact/hooks";
import {useKnown} from "../known";
import {count} from "../lib/format";
import type {Shown} from "../lib/link";
import {type Grouping, isFiltering} from "../lib/rows";
import type {Arrows, Path} from "../lib/types";
import {arrowKinds, type Kind, kindHelp, kindTitle, legend, type State, stateHelp, states} from "../lib/words";
import {now, show} from "../store";
import {dashOf} from "../timeline/palette";
import {Icon} from "../ui/Icon";
import {Button, Menu, Swatch} from "../ui/parts";
import {FilterDialog} from "./FilterDialog";
import {ThreadOptions} from "./Path";

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
      </fieldset>
      <fieldset class="legend kinds" aria-label="Arrows">
        {arrowKinds.map((kind) => (
          <ArrowSwitch key={kind} kind={kind} shown={shown} arrows={arrows} />
        ))}
      </fieldset>
      <div class="tools">
        <PathMenu shown={shown} path={path} />
        <Menu icon="group" label="Grouping of threads (G)" text={groupings[shown.grouping]}>
          {(close) =>
            (Object.keys(groupings) as Grouping[]).map((grouping) => (
              <label class="choice" key={grouping}>
                <input
                  type="radio"
                  name="grouping"
                  checked={shown.grouping === grouping}
                  onChange={() => {
                    show({grouping});
                    close();
                  }}
                />
                {groupings[grouping]}
              </label>
            ))
          }
        </Menu>
        <Button
          icon="filter"
          label="Choose which threads are shown"
          text={isFiltering(shown.filter) ? "Threads: some" : "Threads: all"}
          pressed={isFiltering(shown.filter)}
          onClick={() => setFiltering(true)}
        />
      </div>
      {filtering && <FilterDialog filter={shown.filter} onClose={() => setFiltering(false)} />}
    </div>
  );
}

const groupings: Record<Grouping, string> = {none: "No groups", group: "By thread group", pool: "By pool"};

function StateSwitch({state, shown}: {state: State; shown: Shown}) {
  const {threads} = useKnown();
  const number = states.indexOf(state);
  const there = threads.some(
    (thread) =>
      (state === "dead" && thread.dead) ||
      (thread.states[number]?.time ?? 0) > 0 ||
      (thread.states[number]?.count ?? 0) > 0,
  );
  const on = !shown.hidden.includes(state);
  const turn = () => show({hidden: on ? [...shown.hidden, state] : shown.hidden.filter((one) => one !== state)});
  return (
    <button
      type="button"
      class={`entry ${there ? "" : "absent"}`}
      data-state={state}
      aria-pressed={on}
      title={`${stateHelp[state]}. Click to ${on ? "hide" : "show"}`}
      onClick={turn}
    >
      <Swatch state={state} />
      {state}
    </button>
  );
}

function ArrowSwitch({kind, shown, arrows}: {kind: Kind; shown: Shown; arrows: Arrows | null}) {
  const {info} = useKnown();
  const on = shown.arrows.includes(kind);
  const counted = arrows?.kinds[info?.interactions.indexOf(kind) ?? -1];
  const turn = () => show({arrows: on ? shown.arrows.filter((one) => one !== kind) : [...shown.arrows, kind]});
  const drawn = counted ? counted.total - counted.hidden : 0;
  const hint = counted?.hidden
    ? ` The ${count(drawn)} longest of ${count(counted.total)} are drawn: zoom in for more.`
    : "";
  return (
    <button
      type="button"
      class="entry"
      data-kind={kind}
      aria-pressed={on}
      title={`${kindHelp[kind]}. Click to ${on ? "hide" : "show"}.${on ? hint : ""}`}
      onClick={turn}
    >
      <svg class={`arrow kind-${kind}`} viewBox="0 0 22 10" aria-hidden="true">
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
        label="Critical path on, off (P)"
        text="Critical path"
        pressed={shown.path}
        kind="path"
        onClick={() => show({path: !now().path})}
      />
      <Menu label={`Whose critical path${shown.path && owner ? `: ${owner}` : ""}`} text="">
        {() => (
          <div class="path-menu">
            <fieldset>
              <legend>What is asked</legend>
              <label class="choice">
                <input
                  type="radio"
                  name="mode"
                  checked={shown.mode === "bounded"}
                  onChange={() => show({mode: "bounded", path: true})}
                />
                <span>
                  Bounded<small>why did this thread take so long?</small>
                </span>
              </label>
              <label class="choice">
                <input
                  type="radio"
                  name="mode"
                  checked={shown.mode === "unbounded"}
                  onChange={() => show({mode: "unbounded", path: true})}
                />
                <span>
                  Unbounded<small>the whole program's path to the end</small>
                </span>
              </label>
            </fieldset>
            <label class="field">
              Thread
              <select
                value={shown.pathThread}
                onChange={(e) => show({pathThread: Number(e.currentTarget.value), path: true})}
              >
                <option value={0}>the one that was blocked longest</option>
                <ThreadOptions chosen={shown.pathThread} />
              </select>
            </label>
            <p class="hint">
              {shown.range
                ? "Over the chosen range."
                : "Over the whole session. Drag over the ruler to choose a range."}
            </p>
            {shown.thread > 0 && shown.thread !== shown.pathThread && (
              <button type="button" class="button" onClick={() => show({pathThread: shown.thread, path: true})}>
                <Icon name="path" />
                of {byId.get(shown.thread)?.name ?? "the chosen thread"}
              </button>
            )}
          </div>
        )}
      </Menu>
    </div>
  );
}
