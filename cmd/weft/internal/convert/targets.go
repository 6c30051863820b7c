// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/wire"
)

// target is a format that can be written.
type target struct {
	name     string
	suffixes []string
	single   bool // it holds one session
	carries  recording.Capabilities
	open     func(*job, *output) writer
}

func (t *target) matches(path string) bool {
	return slices.ContainsFunc(t.suffixes, func(suffix string) bool { return strings.HasSuffix(strings.ToLower(path), suffix) })
}

// targets returns the formats that can be written: those of recordings, and those of other tools.
func targets() (all []target) {
	recordings := formats.Writable()
	for i := range recordings {
		f := &recordings[i]
		all = append(all, target{
			name: f.Name, suffixes: []string{f.Extension}, single: f.Name != native.Format().Name, carries: f.Carries,
			open: func(j *job, out *output) writer { return &eventWriter{job: j, format: f, out: out} },
		})
	}
	return append(all,
		target{
			name: "otlp", suffixes: []string{".spans.json", ".json"}, carries: derived("events: spans show the intervals between them"),
			open: func(j *job, out *output) writer { return &spanWriter{job: j, out: out} },
		},
		target{
			name: "perfetto", suffixes: []string{".perfetto-trace", ".pftrace"}, single: true, carries: derived(
				"events: slices show the intervals between them", "stacks, except for the method of the application that waited",
				"groups of threads, and whether they are daemons or virtual", "causes of waits outside of the recording",
			),
			open: func(j *job, out *output) writer { return &perfettoWriter{job: j, out: out} },
		})
}

// derived are the capabilities of a format that shows what the engine finds in the events. Notes name what it does not show.
func derived(notes ...string) recording.Capabilities {
	c := recording.Capabilities{Threads: ^recording.ThreadFields(0), Notes: notes}
	for i := range wire.Events {
		c.Events[wire.Events[i].Kind] = recording.Carried{Fields: ^recording.Fields(0), Flags: ^c.Events[0].Flags}
	}
	return c
}
