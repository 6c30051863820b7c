// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Reads is what was read of each session, source by source, so that what a later source repeats counts once: a copy of a recording, its archive,
// or a second dump of a flight recording that went on. The zero value is empty.
type Reads struct {
	sessions map[jvmthread.SessionID][]extent
	repeated []string // names of sources
}

// Repeated returns the names of the sources of which something was left out, in the order of reading.
func (r *Reads) Repeated() []string { return r.repeated }

// add adds what a source had.
func (r *Reads) add(source string, shares map[jvmthread.SessionID]*share) {
	if r.sessions == nil {
		r.sessions = make(map[jvmthread.SessionID][]extent)
	}
	repeated := false
	for id, s := range shares {
		if s.begun {
			r.sessions[id] = append(r.sessions[id], s.own)
		}
		repeated = repeated || s.repeated
	}
	if repeated {
		r.repeated = append(r.repeated, source)
	}
}

// extent is the time from the first event of a source to its last one.
type extent struct{ from, to jvmthread.Time }

// share is what one source has of a session.
type share struct {
	earlier  []extent
	own      extent
	begun    bool
	repeated bool // earlier sources had some of it
}

// cut removes the events of a batch that earlier sources have, and reports whether the batch counts.
func (s *share) cut(b *recording.Batch) bool {
	if b.Aggregate != nil {
		s.extend(b.Aggregate.From, b.Aggregate.To)
		return !s.has(b.Aggregate.From)
	}
	if len(b.Events) == 0 {
		return true
	}
	s.extend(b.Events[0].Time, b.Events[len(b.Events)-1].Time)
	if len(s.earlier) > 0 {
		b.Events = slices.DeleteFunc(b.Events, func(e jvmthread.Event) bool { return s.has(e.Time) })
	}
	return true
}

// extend adds the times of a batch, which is later than those before.
func (s *share) extend(from, to jvmthread.Time) {
	if !s.begun {
		s.own.from, s.begun = from, true
	}
	s.own.to = to
}

// has reports whether an earlier source has the events of a time. A source that begins where another one ends continues it.
func (s *share) has(at jvmthread.Time) bool {
	has := slices.ContainsFunc(s.earlier, func(e extent) bool {
		return e.from <= at && (at < e.to || at == e.to && s.own.from < e.to)
	})
	s.repeated = s.repeated || has
	return has
}
