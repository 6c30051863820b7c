// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

func appendIndexText(dst []byte, f wire.Frame) ([]byte, error) {
	var index wire.Index
	if err := f.Index(&index); err != nil {
		return dst, err
	}
	dst = fmt.Appendf(dst, "index at=%d before=%d", index.At, index.Before)
	for i, e := range index.Entries {
		separator := ","
		if i == 0 {
			separator = " entries="
		}
		dst = fmt.Appendf(dst, "%s%d:%d:%d:%d", separator, e.Definitions, e.Batch, e.Time, e.Until)
	}
	return append(dst, '\n'), nil
}

func (l *line) index() *wire.Index {
	index := &wire.Index{At: l.unsigned("at", 64), Before: l.unsigned("before", 64)}
	text := l.string("entries")
	for entry := range strings.SplitSeq(text, ",") {
		fields := strings.Split(entry, ":")
		if len(fields) != 4 {
			if text != "" {
				l.fail("entries: invalid entry %q (want definitions:batch:time:until)", entry)
			}
			break
		}
		index.Entries = append(index.Entries, wire.IndexEntry{
			Definitions: l.number("entries", fields[0], 64), Batch: l.number("entries", fields[1], 64),
			Time: jvmthread.Time(l.signedNumber("entries", fields[2], 64)), Until: jvmthread.Time(l.signedNumber("entries", fields[3], 64)),
		})
	}
	return index
}
