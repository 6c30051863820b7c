// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// about holds the events of a chunk about the recording itself.
type about struct {
	jvm      jvmInformation
	settings []setting
	lost     int64 // bytes, from jdk.DataLoss
	shutdown bool
}

type jvmInformation struct {
	known   bool
	pid     int64
	start   int64 // milliseconds
	name    text
	version text
	command text
}

type setting struct {
	of          int64 // type of event
	name, value text
}

// learn reads an event about the recording, and counts the others.
func (c *chunk) learn(p *eventPlan, ev *event, v *values) {
	switch p.kind {
	case kindSetting, kindJVM, kindLoss, kindShutdown:
	default:
		c.events++
		return
	}
	v.text = [numTexts]text{}
	cur := cursor{b: ev.body, raw: c.raw}
	p.read(&cur, v)
	if cur.failed {
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
	case kindLoss:
		c.about.lost += max(0, v.n[slotAmount])
	default:
		c.about.shutdown = true
	}
}

const maxSettings = 1 << 10

// thresholds lists the minimum durations of recorded events: "jdk.ThreadPark: 20 ms", "jdk.ThreadSleep: off".
func (c *chunk) thresholds() []string {
	type stated struct{ enabled, threshold string }
	settings := make(map[string]stated)
	for _, s := range c.about.settings {
		name := c.typeName[s.of]
		t := settings[name]
		switch c.pools.text(s.name) {
		case "enabled":
			t.enabled = c.pools.text(s.value)
		case "threshold":
			t.threshold = c.pools.text(s.value)
		}
		settings[name] = t
	}
	known := slices.Collect(maps.Values(c.typeName))
	var list []string
	for kind := range kindSetting {
		name := wantedEvents[kind].name
		t, ok := settings[name]
		switch {
		case !slices.Contains(known, name):
			list = append(list, name+": unknown to this JDK")
		case !ok:
			list = append(list, name+": not stated")
		case strings.EqualFold(t.enabled, "false"):
			list = append(list, name+": off")
		case t.threshold != "":
			list = append(list, fmt.Sprintf("%s: %s", name, t.threshold))
		default:
			list = append(list, name+": all")
		}
	}
	return list
}
