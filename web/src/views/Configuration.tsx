// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Commands to the agent of a session: pause, snapshot and options.
import {useEffect, useState} from "preact/hooks";
import {address, ask} from "../api";
import {useKnown} from "../known";
import type {Control, ControlAnswer, Session} from "../lib/types";
import {useEvent} from "../ui/hooks";
import {Button, Problem} from "../ui/parts";

export function Configuration({session}: {session: Session}) {
  const {info} = useKnown();
  const {control, problem, said, send, changed, setChanged} = useControl(session);
  if (!control) {
    return (
      <p class="hint">
        {info?.control
          ? session.live
            ? "The agent is not connected to this collector, so it cannot be controlled from here."
            : "The session has ended, and its agent with it."
          : "To pause or configure agents from here, enable the control channel in the collector configuration."}
      </p>
    );
  }
  const turn = control.paused ? "Resume profiling" : "Pause profiling";
  return (
    <div class="configuration">
      <div class="criteria">
        <Button
          icon={control.paused ? "play" : "pause"}
          label={turn}
          text={turn}
          onClick={() => send(control.paused ? "resume" : "pause")}
        />
        <Button
          label="Get the current state of each thread from the agent"
          text="Take a snapshot"
          onClick={() => send("snapshot")}
        />
      </div>
      <Options
        options={control.options}
        changed={changed}
        onChange={setChanged}
        onApply={() => send("options", changed)}
      />
      <Problem text={problem} />
      <p class="hint" aria-live="polite">
        {said}
      </p>
    </div>
  );
}

/** Sends commands to the agent. Its answer is shown until the list of sessions is loaded again. */
function useControl(session: Session) {
  const {reload} = useKnown();
  const [problem, setProblem] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const [changed, setChanged] = useState<Record<string, string>>({});
  const [answered, setAnswered] = useState<{control: Control | null; before: Control | null}>();
  const take = useEvent(({done, message, control}: ControlAnswer) => {
    if (done) setSaid(message || "Done.");
    else setProblem(message);
    setChanged({});
    setAnswered({control, before: session.control});
    reload();
  });
  const send = (action: string, options: Record<string, string> = {}) => {
    setProblem(null);
    setSaid("");
    ask<ControlAnswer>(address(`sessions/${session.id}/control`), {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify({action, options}),
    }).then(take, (error: Error) => setProblem(error.message));
  };
  // The list of sessions has the options only after the first request to the agent.
  const unasked = session.control !== null && Object.keys(session.control.options).length === 0;
  const look = useEvent(({done, control}: ControlAnswer) => {
    if (done) setAnswered({control, before: session.control});
  });
  useEffect(() => {
    if (!unasked) return;
    const abort = new AbortController();
    const {signal} = abort;
    ask<ControlAnswer>(address(`sessions/${session.id}/control`), {signal}).then(look, () => {}); // a command shows the error
    return () => abort.abort();
  }, [session.id, unasked]);
  const control = (answered?.before === session.control && answered?.control) || session.control;
  return {control, problem, said, send, changed, setChanged};
}

interface OptionsProps {
  options: Record<string, string>;
  changed: Record<string, string>;
  onChange: (changed: Record<string, string>) => void;
  onApply: () => void;
}

function Options({options, changed, onChange, onApply}: OptionsProps) {
  const all = Object.entries(options);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        onApply();
      }}
    >
      {all.map(([name, value]) => (
        <div class="field" key={name}>
          <span>{name}</span>
          {value === "true" || value === "false" ? (
            <input
              type="checkbox"
              aria-label={name}
              checked={(changed[name] ?? value) === "true"}
              onChange={(e) => onChange({...changed, [name]: String(e.currentTarget.checked)})}
            />
          ) : (
            <input
              type="text"
              aria-label={name}
              value={changed[name] ?? value}
              onInput={(e) => onChange({...changed, [name]: e.currentTarget.value})}
            />
          )}
        </div>
      ))}
      {all.length > 0 && (
        <button type="submit" class="button primary" disabled={Object.keys(changed).length === 0}>
          Apply
        </button>
      )}
    </form>
  );
}
