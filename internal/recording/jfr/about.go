// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"slices"
	"strings"
)

// about is what the events of a chunk say about the recording itself.
type about struct {
	jvm      jvmInformation
	settings []setting
	lost     int64 // bytes, as jdk.DataLoss tells
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
	of          int64
	name, value text
}

// learn takes what an event says about the recording.
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

// thresholds says for each kind of event from which length on it is in the recording: "jdk.ThreadPark: 20 ms", "jdk.ThreadSleep: off".
func (c *chunk) thresholds() []string {
	type told struct{ enabled, threshold string }
	said := make(map[string]told)
	for _, s := range c.about.settings {
		name := c.typeName[s.of]
		t := said[name]
		switch c.pools.text(s.name) {
		case "enabled":
			t.enabled = c.pools.text(s.value)
		case "threshold":
			t.threshold = c.pools.text(s.value)
		}
		said[name] = t
	}
	var list []string
	for kind := range kindSetting {
		name := wantedEvents[kind].name
		t, ok := said[name]
		switch {
		case !slices.Contains(c.names(), name):
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

func (c *chunk) names() (list []string) {
	for _, name := range c.typeName {
		list = append(list, name)
	}
	return list
}
