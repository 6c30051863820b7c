// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"cmp"

	"github.com/weft-otel/weft/internal/viewapi"
)

// Deadlock says who waits for whom forever since a time of day; "": it is not known. More is how many other deadlocks there are, stuck how many threads no other can free, members included.
func Deadlock(d *viewapi.Deadlock, since string, more, stuck int) []viewapi.Part {
	const most = 4
	var s sentence
	s.text(Plural(len(d.Members), "thread") + " deadlocked")
	if since != "" {
		s.text(" at ").add(viewapi.RoleTime, since)
	}
	s.text(": ")
	for i := range d.Members {
		m, next := &d.Members[i], &d.Members[(i+1)%len(d.Members)]
		switch {
		case i == most:
			s.text(", …")
		case i > most:
			continue
		case i > 0:
			s.text(", ").add(viewapi.RoleThread, m.Thread.Name).text(" for ")
		default:
			s.add(viewapi.RoleThread, m.Thread.Name).text(" waits for ")
		}
		if i < most {
			by := " held by "
			if IsInitialization(m.Lock.Class) {
				by = " by "
			}
			s.add(viewapi.RoleLock, cmp.Or(m.Name, SimpleClass(m.Lock.Class))).text(by).add(viewapi.RoleThread, next.Thread.Name)
		}
	}
	if more > 0 {
		s.text("; and " + Plural(more, "more deadlock"))
	} else if others := stuck - len(d.Members); others > 0 && d.Until == 0 {
		s.text("; " + Plural(others, "other thread"))
		if others == 1 {
			s.text(" waits for them, too")
		} else {
			s.text(" wait for them, too")
		}
	}
	return s.text(".").parts
}
