// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// counted is the number of events by their name.
type counted map[string]uint64

// kindsOf describes the events of a chunk, by type.
type kindsOf struct {
	name     map[int64]string
	explains map[int64]bool // it is not read, and may explain waits
}

func (c *chunk) describe(meta *metadata) kindsOf {
	k := kindsOf{make(map[int64]string), make(map[int64]bool)}
	for id, class := range meta.classes {
		if class.event && class.name != wantedEvents[kindSetting].name && class.name != wantedEvents[kindJVM].name {
			k.name[id], k.explains[id] = class.name, c.plan(id) == nil && class.mayExplain()
		}
	}
	return k
}

// mayExplain reports whether events say for what a thread took time, or where it was. Those about phases of pauses, which are read, do not say
// more, and compilers hold up no other thread.
func (c *class) mayExplain() bool {
	for _, other := range []string{"jdk.GC", "jdk.OldObject", "jdk.GarbageCollection", "jdk.YoungGarbage", "jdk.OldGarbage", "jdk.Safepoint", "jdk.Compil", "jdk.ActiveRecording"} {
		if strings.HasPrefix(c.name, other) {
			return false
		}
	}
	for _, sample := range []string{"ExecutionSample", "MethodSample", "WallClockSample", "CPUTimeSample"} {
		if strings.HasSuffix(c.name, sample) {
			return true
		}
	}
	return c.has("duration") && c.has("eventThread")
}

func (c *class) has(name string) bool {
	return slices.ContainsFunc(c.fields, func(f field) bool { return f.name == name })
}

// name names the types that have been counted.
func (c *chunk) name(counts *[smallTypes]uint64) {
	c.counts = [2]counted{{}, {}}
	for id, n := range counts {
		if name := c.kinds.name[int64(id)]; n > 0 && name != "" {
			c.counts[1][name] += n
			if c.kinds.explains[int64(id)] {
				c.counts[0][name] += n
			}
		}
	}
	c.kinds = kindsOf{}
}

// tally counts the events of a chunk.
func (d *Decoder) tally(c *chunk) {
	d.session.unused.add(c.counts[0])
	d.counts.add(c.counts[1])
	c.counts = [2]counted{} // the chunk may stay open
}

const maxCounted, maxNamed = 4096, 8

func (of counted) add(more counted) {
	for name, n := range more {
		if _, known := of[name]; known || len(of) < maxCounted {
			of[name] += n
		}
	}
}

// list names the most frequent events: "9,212 jdk.X, 10 jdk.Y and 3 other kinds of events".
func (of counted) list(most int) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, grouped(of[name])+" "+name)
	}
	text := strings.Join(list, ", ")
	switch more := len(names) - len(list); more {
	case 0:
	case 1:
		text += " and 1 other kind of events"
	default:
		text += fmt.Sprintf(" and %d other kinds of events", more)
	}
	return text
}

// grouped writes a number as 9,212.
func grouped(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// reportEmpty says what a recording without events of threads has instead.
func (d *Decoder) reportEmpty() {
	if begun := d.session.perTick > 0; !begun || d.Counts.Events > 0 || d.Err() != nil {
		return
	}
	for kind := range kindSample {
		if d.counts[wantedEvents[kind].name] > 0 {
			return // they are of unknown threads
		}
	}
	const remedy = "to record waits: jcmd PID JFR.start settings=profile"
	if len(d.counts) == 0 {
		d.ReportAt(0, "the recording has no events", remedy)
		return
	}
	d.ReportAt(0, "the recording has no waits of threads, only "+d.counts.list(maxNamed/2), remedy)
}
