// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// A table with its head and the files it can be saved as.
import type {ComponentChildren} from "preact";
import {address, type Parameters} from "../api";
import {useKnown} from "../known";
import {Menu} from "../ui/Popup";

interface Props {
  title: string;
  hint?: string;
  table: string;
  parameters: Parameters;
  children: ComponentChildren;
  extra?: ComponentChildren;
  /** The ways to further pages of the table. */
  pages?: ComponentChildren;
}

export function Panel({title, hint, table, parameters, children, extra, pages}: Props) {
  return (
    <section class="panel" aria-label={title} data-table={table}>
      <header>
        <h2>{title}</h2>
        {extra}
        <span class="hint" title={hint}>
          {hint}
        </span>
        <span class="apart" />
        {pages}
        <SaveMenu title={title} table={table} parameters={parameters} />
      </header>
      {children}
    </section>
  );
}

/** The files that a table can be saved as. */
export function SaveMenu({title, table, parameters}: Pick<Props, "title" | "table" | "parameters">) {
  const {session} = useKnown();
  return (
    <Menu icon="download" label={`Save ${title.toLowerCase()} as a file`}>
      {(close) =>
        ["csv", "json"].map((format) => (
          <a
            key={format}
            class="choice"
            download
            href={address(`sessions/${session?.id}/export`, {...parameters, table, format})}
            onClick={close}
          >
            {format.toUpperCase()}
          </a>
        ))
      }
    </Menu>
  );
}
