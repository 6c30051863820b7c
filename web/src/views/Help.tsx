// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// All keys, gestures and marks on one screen.
import {legend, stateHelp, stateTitle} from "../lib/words";
import {keyHelp} from "../timeline/keys";
import {Icon} from "../ui/Icon";
import {Dialog} from "../ui/Popup";
import {Swatch} from "../ui/parts";

const mouseHelp: [string, string][] = [
  ["wheel", "scroll; zoom over the ruler or with Ctrl; pan with Shift"],
  ["drag", "pan; over the ruler or with Shift, select a range"],
  ["double click", "zoom to the interval"],
];

export function Help({onClose}: {onClose: () => void}) {
  return (
    <Dialog title="Keys and marks" onClose={onClose} wide turnKey="?">
      <div class="help">
        {[...new Set(keyHelp.map(({view}) => view))].map((view) => (
          <section key={view} aria-label={view}>
            <h3>{view}</h3>
            <dl class="keys">
              {keyHelp
                .filter((one) => one.view === view)
                .map(({keys, text}) => (
                  <div key={keys}>
                    <dt>
                      {keys.split(/\s+/).map((one) => (
                        <kbd key={one}>{one}</kbd>
                      ))}
                    </dt>
                    <dd>{text}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
        <section aria-label="Mouse">
          <h3>Mouse, in lanes</h3>
          <dl class="keys">
            {mouseHelp.map(([gesture, text]) => (
              <div key={gesture}>
                <dt>{gesture}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section aria-label="States">
          <h3>States of threads</h3>
          <dl class="keys states">
            {legend.map((state) => (
              <div key={state}>
                <dt>
                  <Swatch state={state} /> {stateTitle(state)}
                </dt>
                <dd title={stateHelp[state]}>{stateHelp[state].split(/[:;,] /)[0]}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section aria-label="Marks">
          <h3>Marks</h3>
          <p class="hint">
            An arrow points from the thread that acted to the one it unblocked. Low bars are voluntary waits, tall
            striped ones blocked threads. Intervals that share a pixel are drawn in proportion. <Icon name="link" /> The
            address always describes the view.
          </p>
        </section>
      </div>
    </Dialog>
  );
}
