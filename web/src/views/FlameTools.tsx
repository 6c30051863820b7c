// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import {type Frame, type Graph, lockKey, lockLabel, shareFound} from "../lib/flame";
// What is chosen above a flame graph: a lock, a text to find, and another range to compare with.
import {count, percent} from "../lib/format";
import type {Shown} from "../lib/link";
import type {Flame} from "../lib/types";
import {show} from "../store";
import {CompareSelect, RequestFields} from "./Compare";

interface Props {
  shown: Shown;
  all: Flame | null;
  graph: Graph | null;
}

export function FlameTools({shown, all, graph}: Props) {
  const {wide, before} = shown;
  return (
    <div class="toolbar">
      <LockSelect shown={shown} all={all} />
      <Find text={shown.find} graph={graph} />
      <div class="tools">
        {before && <RequestFields shown={shown} />}
        {before && (
          <label class="field">
            Widths
            <select value={wide} onChange={(e) => show({wide: e.currentTarget.value as Shown["wide"]})}>
              <option value="now">now</option>
              <option value="before">before</option>
            </select>
          </label>
        )}
        <CompareSelect shown={shown} />
      </div>
    </div>
  );
}

function LockSelect({shown: {flame}, all}: {shown: Shown; all: Flame | null}) {
  const locks = (all?.locks ?? []).filter(({folded}) => !folded);
  const known = locks.some((lock) => lockKey(lock) === flame);
  return (
    <label class="field">
      Lock
      <select value={flame} onChange={(e) => show({flame: e.currentTarget.value, frames: []})}>
        <option value="">all {all ? count(all.total) : ""}</option>
        {flame && !known && <option value={flame}>{flame.slice(0, flame.lastIndexOf("@")) || flame}</option>}
        {locks.map((lock) => (
          <option key={lockKey(lock)} value={lockKey(lock)}>
            {lockLabel(lock)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Find({text, graph}: {text: string; graph: Graph | null}) {
  const fits = textFits(text);
  return (
    <label class="field">
      Find
      <input
        type="search"
        value={text}
        placeholder="class or method"
        aria-label="Find frames"
        onInput={(e) => show({find: e.currentTarget.value})}
      />
      {text && graph && (
        <span class="hint" role="status">
          in {percent(shareFound(graph, fits, "waits"))} above, {percent(shareFound(graph, fits, "holds"))} below
        </span>
      )}
    </label>
  );
}

/** Whether the name of a frame has a text, in any case. */
export function textFits(text: string): (frame: Frame) => boolean {
  const wanted = text.toLowerCase();
  return ({name}) => name.toLowerCase().includes(wanted);
}
