// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"encoding/binary"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// session is the run of the JVM that wrote the current chunk.
type session struct {
	clock     clock // of the first chunk: the wall clock may have been set since
	perTick   int64 // ticks per second
	ticks     int64 // start of the last chunk
	jvm       jvmInformation
	last      jvmthread.Time
	shutdown  bool
	unused    counted // events that may explain waits
	announced recording.Session
}

// includes reports whether a chunk is of the same run of the same JVM.
func (s *session) includes(c *chunk) bool {
	if c.startTicks < s.ticks || c.ticksPerSecond != s.perTick {
		return false
	}
	return !s.jvm.known || !c.about.jvm.known || s.jvm.pid == c.about.jvm.pid && s.jvm.start == c.about.jvm.start
}

// extend adds a chunk.
func (s *session) extend(c *chunk) {
	s.ticks = c.startTicks
	s.shutdown = s.shutdown || c.about.shutdown
	if !s.jvm.known {
		s.jvm = c.about.jvm
	}
	s.last = max(s.last, jvmthread.Time(c.clock.at(c.startTicks)+max(0, c.durationNanos)))
}

// begin starts a session with its first chunk.
func (d *Decoder) begin(c *chunk) {
	c.clock = newClock(&c.header)
	d.session = session{clock: c.clock, perTick: c.ticksPerSecond, last: math.MinInt64, unused: counted{}}
	d.session.extend(c)
	d.watermark = math.MinInt64
	d.splitter.late, d.splitter.lasts, d.splitter.open = d.splitter.late[:0], nil, nil
	jvm := &c.about.jvm
	announced := recording.Session{ID: d.id(c), Thresholds: c.thresholds()}
	if jvm.pid > 0 && jvm.pid <= math.MaxUint32 {
		announced.PID = uint32(jvm.pid)
	}
	add := func(key, value string) {
		if value != "" {
			announced.Attributes = append(announced.Attributes, wire.Attribute{Key: key, Value: value})
		}
	}
	command := c.pools.text(jvm.command)
	add("service.name", serviceOf(command))
	add("process.runtime.name", c.pools.text(jvm.name))
	add("process.runtime.version", versionOf(c.pools.text(jvm.version)))
	d.session.announced = announced
}

// announce passes on the session, when what it lacks is known.
func (d *Decoder) announce() {
	d.session.announced.Unused = d.session.unused.list(maxNamed)
	d.Session(&d.session.announced)
}

// finish passes on the events held back.
func (d *Decoder) finish() { d.pass(d.splitter.split(nil, math.MaxInt64), math.MaxInt64) }

// end ends the session.
func (d *Decoder) end() {
	reason := "detached" // the JVM continued without the recording
	if d.session.shutdown {
		reason = "exit"
	}
	d.End(recording.End{Time: max(d.session.last, d.watermark), Reason: reason})
}

// id derives a session id, which is the same whenever the recording is read.
func (d *Decoder) id(c *chunk) jvmthread.SessionID {
	var data []byte
	for _, n := range []int64{c.about.jvm.pid, c.about.jvm.start, c.startNanos, c.startTicks} {
		data = binary.BigEndian.AppendUint64(data, uint64(n))
	}
	return jvmthread.DeriveSessionID(data)
}

// serviceOf derives a service name from a command: a main class, a module with one, or a jar.
func serviceOf(command string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	if strings.HasSuffix(first, ".jar") {
		return strings.TrimSuffix(path.Base(strings.ReplaceAll(first, `\`, "/")), ".jar")
	}
	first = first[strings.LastIndexByte(first, '/')+1:]
	return first[strings.LastIndexByte(first, '.')+1:]
}

// versionOf extracts the version from a description of a JVM: "OpenJDK 64-Bit Server VM (17.0.1+12) for linux-amd64 JRE (17.0.1+12), built on ...".
func versionOf(text string) string {
	_, text, _ = strings.Cut(text, "(")
	version, _, ok := strings.Cut(text, ")")
	if !ok {
		return ""
	}
	return version
}

// about holds the events of a chunk about the recording itself.
type about struct {
	jvm       jvmInformation
	settings  []setting
	dumps     []dumpText // the first and the last one
	deadlocks []deadlockText
	large     int   // dumps that are too large
	lost      int64 // bytes, from jdk.DataLoss
	shutdown  bool
}

type jvmInformation struct {
	known   bool
	pid     int64
	start   int64 // milliseconds
	name    text
	version text
	command text
}

type dumpText struct {
	ticks int64
	text  text
}

type setting struct {
	of          int64 // type of event
	name, value text
}

// learn reads an event about the recording.
func (c *chunk) learn(p *eventPlan, ev *event, v *values) {
	if p.kind < kindSetting {
		return
	}
	v.text = [numTexts]text{}
	cur := cursor{b: ev.body, raw: c.raw}
	p.read(&cur, v)
	if cur.failed {
		if p.kind == kindDump && len(ev.body) == 0 {
			c.about.large++
		}
		return
	}
	switch p.kind {
	case kindSetting:
		if _, wanted := c.typeName[v.n[slotID]]; wanted && len(c.about.settings) < maxSettings {
			c.about.settings = append(c.about.settings, setting{v.n[slotID], v.text[slotName.text()], v.text[slotValue.text()]})
		}
	case kindJVM:
		c.about.jvm = jvmInformation{
			known: true, pid: v.n[slotPID], start: v.n[slotJVMStart],
			name: v.text[slotName.text()], version: v.text[slotVersion.text()], command: v.text[slotCommand.text()],
		}
	case kindDump:
		c.about.dumps = append(c.about.dumps[:min(len(c.about.dumps), 1)], dumpText{v.n[slotStart], v.text[slotName.text()]})
		c.held += int64(len(ev.body))
	case kindDeadlocked:
		if len(c.about.deadlocks) < maxSettings {
			c.about.deadlocks = append(c.about.deadlocks, deadlockText{
				ticks: v.n[slotStart], thread: v.n[slotID], owner: v.n[slotPeer], name: v.text[slotName.text()], lock: v.text[slotValue.text()],
				ownerName: v.text[slotOSName.text()], frame: v.text[slotCommand.text()],
			})
			c.held += int64(len(ev.body))
		}
	case kindLoss:
		c.about.lost += max(0, v.n[slotAmount])
	default:
		c.about.shutdown = true
	}
}

const maxSettings = 1 << 10

// stated is the settings of an event.
type stated struct{ enabled, threshold, throttle string }

// settings returns the settings by the name of the event.
func (c *chunk) settings() map[string]stated {
	settings := make(map[string]stated)
	for _, s := range c.about.settings {
		name := c.typeName[s.of]
		t := settings[name]
		switch c.pools.text(s.name) {
		case "enabled":
			t.enabled = c.pools.text(s.value)
		case "threshold":
			t.threshold = c.pools.text(s.value)
		case "throttle":
			t.throttle = c.pools.text(s.value)
		}
		settings[name] = t
	}
	return settings
}

// thresholds lists the minimum durations of recorded events of threads, and the limits of their number: "jdk.ThreadPark: 20 ms",
// "jdk.ThreadSleep: off", "jdk.SocketRead: 1 ms, at most 100/s".
func (c *chunk) thresholds() []string {
	settings := c.settings()
	known := slices.Collect(maps.Values(c.typeName))
	var list []string
	for kind := range kindPause {
		name := wantedEvents[kind].name
		t, ok := settings[name]
		least := t.threshold
		switch {
		case !slices.Contains(known, name):
			least = "unknown to this JDK"
		case !ok:
			least = "not stated"
		case strings.EqualFold(t.enabled, "false"):
			least = "off"
		case least == "":
			least = "all"
		}
		if t.throttle != "" && t.throttle != "off" && least != "off" {
			least += ", at most " + t.throttle
		}
		list = append(list, name+": "+least)
	}
	return list
}
