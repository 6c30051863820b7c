// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"path"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// session is the run of a JVM that the chunk at hand is of.
type session struct {
	clock    clock // of the first chunk: the wall clock of later ones may have been set meanwhile
	perTick  int64 // ticks a second
	ticks    int64 // at which the last chunk begins
	jvm      jvmInformation
	last     jvmthread.Time
	shutdown bool
}

// goesOn reports whether a chunk is of the same run of the same JVM.
func (s *session) goesOn(c *chunk) bool {
	if c.startTicks < s.ticks || c.ticksPerSecond != s.perTick {
		return false
	}
	return !s.jvm.known || !c.about.jvm.known || s.jvm.pid == c.about.jvm.pid && s.jvm.start == c.about.jvm.start
}

// extend takes a further chunk.
func (s *session) extend(c *chunk) {
	s.ticks = c.startTicks
	s.shutdown = s.shutdown || c.about.shutdown
	if !s.jvm.known {
		s.jvm = c.about.jvm
	}
	s.last = max(s.last, jvmthread.Time(s.clock.at(c.startTicks)+max(0, c.durationNanos)))
}

// begin tells of the session that a chunk is the first of.
func (d *Decoder) begin(c *chunk) {
	d.session = session{clock: newClock(&c.header), perTick: c.ticksPerSecond, last: math.MinInt64}
	d.session.extend(c)
	d.watermark = math.MinInt64
	d.splitter.late = d.splitter.late[:0]
	jvm := &c.about.jvm
	told := recording.Session{ID: d.id(c), Thresholds: c.thresholds()}
	if jvm.pid > 0 && jvm.pid <= math.MaxUint32 {
		told.PID = uint32(jvm.pid)
	}
	add := func(key, value string) {
		if value != "" {
			told.Attributes = append(told.Attributes, recording.Attribute{Key: key, Value: value})
		}
	}
	command := c.pools.text(jvm.command)
	add("service.name", serviceOf(command))
	add("process.runtime.name", c.pools.text(jvm.name))
	add("process.runtime.version", versionOf(c.pools.text(jvm.version)))
	if d.err == nil {
		d.err = d.sink.Session(&told)
	}
}

// end tells of the end of the session.
func (d *Decoder) end() {
	if d.err != nil {
		return
	}
	reason := "detached" // it was only the recording that ended
	if d.session.shutdown {
		reason = "exit"
	}
	d.err = d.sink.End(recording.End{Time: max(d.session.last, d.watermark), Reason: reason})
}

// id is the same whenever the recording is read.
func (d *Decoder) id(c *chunk) (id jvmthread.SessionID) {
	hash := sha256.New()
	for _, n := range []int64{c.about.jvm.pid, c.about.jvm.start, c.startNanos, c.startTicks} {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n))
		hash.Write(b[:])
	}
	copy(id[:], hash.Sum(nil))
	id[0] |= 1 // not zero
	return id
}

// serviceOf makes a name of what was started: a main class, a module with one, or a jar.
func serviceOf(command string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	if strings.HasSuffix(first, ".jar") {
		return strings.TrimSuffix(path.Base(strings.ReplaceAll(first, `\`, "/")), ".jar")
	}
	first = first[strings.LastIndexByte(first, '/')+1:]
	return first[strings.LastIndexByte(first, '.')+1:]
}

// versionOf finds the version in what a JVM says of itself: "OpenJDK 64-Bit Server VM (17.0.1+12) for linux-amd64 JRE (17.0.1+12), built on ...".
func versionOf(text string) string {
	_, text, _ = strings.Cut(text, "(")
	version, _, ok := strings.Cut(text, ")")
	if !ok {
		return ""
	}
	return version
}
