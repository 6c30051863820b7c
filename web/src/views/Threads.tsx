// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The thread visualizer: names on the left, lanes on the right, the selected interval below.
import {useMemo, useState} from "preact/hooks";
import {useKnown, usePart} from "../known";
import {count, many} from "../lib/format";
import {ids} from "../lib/lanes";
import type {Shown} from "../lib/link";
import {noFilter} from "../lib/rows";
import {around} from "../lib/scale";
import type {Interval, Path} from "../lib/types";
import {show} from "../store";
import {keys} from "../timeline/keys";
import {ThreadsPlane} from "../timeline/threads";
import {useKeys} from "../ui/hooks";
import {Button, Empty, Problem} from "../ui/parts";
import {Detail} from "./Detail";
import {Minimap} from "./Minimap";
import {PathProblem} from "./Path";
import {Lanes, savePicture, useStage} from "./stage";
import {Names, Tip} from "./ThreadNames";
import {Toolbar} from "./Toolbar";
import {
  type Hover,
  pathParameters,
  useArrows,
  useChoose,
  usePicture,
  useReveal,
  useRows,
  userView,
  useScroll,
  useSession,
} from "./threadsPlane";

export function ThreadsView({shown}: {shown: Shown}) {
  const {session, threads, byId} = useKnown();
  const {platform, rows, listed, cast, some, folded, height} = useRows(shown);
  const [problem, setProblem] = useState<string | null>(null);
  const choose = useChoose(setProblem);
  const {stage, hover} = useThreadsStage(setProblem, choose);
  const path = usePart<Path>("path", shown.path ? pathParameters(shown) : null, true);
  const arrows = useArrows(shown, stage.view, some);
  const {thread, seq} = shown;
  const chosen = usePart<Interval>("interval", thread && seq ? {thread, seq} : null, true);
  useSession(stage, shown);
  usePicture(stage.plane, shown, {rows, path: path.data, arrows: arrows.data, chosen: chosen.data});
  const said = useReveal(stage, shown, chosen.data, rows);
  const sight = useScroll(stage, rows, shown.top);
  useKeys((e) => {
    const plane = stage.plane.current;
    return !!plane && keys(e.key, plane, {rows, shown, interval: chosen.data, choose});
  });

  // Zooming does not change the toolbar, so a frame does not build it again.
  const toolbar = useMemo(
    () => <Toolbar shown={shown} arrows={arrows.data} path={path.data} />,
    [shown, arrows.data, path.data],
  );
  const name = hover?.group?.group ?? (hover?.hit && byId.get(hover.hit.thread)?.name);
  return (
    <div class="threads">
      {toolbar}
      {cast && cast.length > 0 && <Cast threads={cast.length} />}
      <Problem text={problem ?? arrows.error} />
      <PathProblem answer={path} range={shown.range} />
      <Minimap
        stage={stage}
        shown={shown}
        onPicture={() => savePicture(stage.plane.current!, session, "threads")}
        threads={some ? ids(some) : undefined}
      />
      <Lanes
        stage={stage}
        label="Lanes of threads over time. Press the arrow keys to move between intervals, and the question mark to list all keys."
        corner={<Corner listed={listed.length} platform={platform.length} episode={cast?.length ?? 0} />}
        height={height}
        names={<Names rows={rows} sight={sight} chosen={thread} chosenGroup={shown.virtual} folded={folded} />}
      >
        {cast ? <Nothing filtered={rows.length === 0 && threads.length > 0} /> : <Empty title="Loading …" />}
        {hover && name && <Tip hover={hover} name={name} plane={stage.plane.current!} />}
      </Lanes>
      <div class="said" aria-live="polite">
        {said}
      </div>
      {thread > 0 && seq > 0 && <Detail interval={chosen.data} error={chosen.error} />}
    </div>
  );
}

function useThreadsStage(setProblem: (problem: string | null) => void, choose: (thread: number, time: number) => void) {
  const [hover, setHover] = useState<Hover | null>(null);
  const stage = useStage(
    (canvas, events) => {
      const plane = new ThreadsPlane(canvas, events, setProblem);
      Object.assign(window, {weftPlane: plane}); // for tests and benchmarks
      return plane;
    },
    {
      click: (plane, x, y) => {
        const hit = plane.hit(x, y);
        if (hit) choose(hit.thread, hit.time);
        else show({thread: 0, seq: 0, virtual: plane.hitGroup(x, y)?.key ?? ""});
      },
      double: (plane, x, y) => {
        const hit = plane.hit(x, y);
        if (hit) userView(plane, around({from: hit.from, to: hit.to}, plane.limits));
      },
      hover: (plane, x, y, inside) => {
        const hit = inside ? plane.hit(x, y) : null;
        const group = inside ? plane.hitGroup(x, y) : null;
        setHover(hit || group ? {hit, group, x, y} : null);
      },
    },
  );
  return {stage, hover};
}

/** Says that only the threads of an episode are shown. */
function Cast({threads}: {threads: number}) {
  return (
    <p class="cast">
      <span role="status">
        {threads === 1 ? "The thread" : `The ${count(threads)} threads`} of an episode, in the order in which they took
        part
      </span>
      <Button text="Show all threads" onClick={() => show({cast: []})} />
    </p>
  );
}

/** How many threads have a lane. */
function Corner({listed, platform, episode}: {listed: number; platform: number; episode: number}) {
  const {groups, allThreads} = useKnown();
  if (episode > 0) return <>{`${count(episode)} of ${many(allThreads, "thread")}`}</>;
  const virtual = groups.reduce((sum, group) => sum + group.threads, 0);
  const all = allThreads - virtual;
  const more = virtual > 0 ? `, ${count(virtual)} virtual` : "";
  if (all > platform) {
    return (
      <span title={`Only the ${count(platform)} threads blocked longest are listed; use the search to find others`}>
        {count(listed)} of {many(all, "thread")}
        {more}
      </span>
    );
  }
  return (
    <>
      {listed === all ? "" : `${count(listed)} of `}
      {many(all, "thread")}
      {more}
    </>
  );
}

/** Why there are no lanes. */
function Nothing({filtered}: {filtered: boolean}) {
  const {session} = useKnown();
  if (session?.threads === 0) {
    return (
      <Empty title="No threads in this session">
        <p>
          {session.live
            ? "A thread appears once it waits, starts or ends."
            : "The session ended before any thread waited, started or ended."}
        </p>
      </Empty>
    );
  }
  return filtered ? (
    <Empty title="No thread matches the filter">
      <Button text="Show all threads" onClick={() => show({filter: noFilter})} />
    </Empty>
  ) : null;
}
