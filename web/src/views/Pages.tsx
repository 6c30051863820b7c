// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The pages of a list that is too long for one answer.
import {count} from "../lib/format";
import {Button} from "../ui/parts";

interface Props {
  /** What is listed, in the plural. */
  of: string;
  offset: number;
  /** The length of a page. */
  size: number;
  total: number;
  onMove: (offset: number) => void;
}

/** Which part of the list is shown, and the ways to the others; nothing if one page is enough. */
export function Pages({of, offset, size, total, onMove}: Props) {
  if (total <= size && offset === 0) return null;
  const end = offset + size;
  return (
    <>
      <span class="hint">
        {count(Math.min(offset + 1, total))}–{count(Math.min(end, total))} of {count(total)} {of}
      </span>
      <Button
        icon="left"
        label={`Previous ${of}`}
        disabled={offset === 0}
        onClick={() => onMove(Math.max(0, offset - size))}
      />
      <Button icon="right" label={`Next ${of}`} disabled={end >= total} onClick={() => onMove(end)} />
    </>
  );
}
