// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wording"
)

// Bounds of a list of sessions.
const (
	maxSessions     = 100
	maxDeadlocks    = 20 // the newest ones of a session
	maxMembers      = 16 // of one
	maxMemberFrames = 5
)

func (v *View) sessions(p *params) any {
	page := page{int(p.number("offset", 0, 0, 1<<31)), int(p.number("limit", maxSessions, 1, maxSessions))}
	all := v.store.Sessions()
	out := api.Sessions{Total: len(all), Offset: page.offset, Sessions: []api.Session{}}
	room := 0
	for i, sn := range piece(all, page) {
		s := v.describe(sn)
		s.Gaps = s.Gaps[max(0, len(s.Gaps)-10):]
		body, err := json.Marshal(s)
		if room += len(body) + 1; err != nil || i > 0 && room > maxAnswer-200 {
			break
		}
		out.Sessions = append(out.Sessions, s)
	}
	return out
}

// describe returns the properties of a session.
func (v *View) describe(sn *store.Snapshot) api.Session {
	q := &query{view: v, sn: sn}
	s := api.Session{
		ID: sn.ID.String(), Service: sn.Meta["service.name"], Host: sn.Meta["host.name"], Command: sn.Meta["process.command_line"],
		JVM:        strings.TrimSpace(sn.Meta["process.runtime.name"] + " " + sn.Meta["process.runtime.version"]),
		Attributes: sn.Meta, Origin: strconv.FormatInt(int64(sn.Origin), 10), From: q.rel(sn.From), To: q.rel(sn.To),
		Live: sn.Live, Ended: string(sn.Ended), Version: sn.Version, Intervals: sn.Counts.Intervals, Interactions: sn.Counts.Interactions,
		Locks: sn.KnownLocks, Events: sn.Events, Lost: sn.Lost, Missed: sn.Missed, Bytes: sn.Bytes, Evicted: sn.Evicted,
		Gaps: []api.Gap{}, Deadlocks: []api.Deadlock{},
	}
	if s.Attributes == nil {
		s.Attributes = map[string]string{}
	}
	s.PID, _ = strconv.ParseInt(sn.Meta["process.pid"], 10, 64)
	for i := range sn.Threads {
		if sn.Threads[i].Known {
			s.Threads++
		}
	}
	for _, g := range sn.Gaps {
		s.Gaps = append(s.Gaps, api.Gap{From: q.rel(g.Start), To: q.rel(g.End), Lost: g.Lost, Missed: g.Missed})
	}
	for i := max(0, len(sn.Deadlocks)-maxDeadlocks); i < len(sn.Deadlocks); i++ {
		s.Deadlocks = append(s.Deadlocks, q.deadlock(&sn.Deadlocks[i]))
	}
	s.Control = v.controlOf(sn.ID)
	return s
}

func (q *query) deadlock(d *store.Deadlock) api.Deadlock {
	out := api.Deadlock{ID: threadpdata.DeadlockID(q.sn.ID, d.Cycle), Since: q.rel(d.Since), Members: []api.DeadlockMember{}}
	var b strings.Builder
	for i := range d.Members[:min(len(d.Members), maxMembers)] {
		m := &d.Members[i]
		member := api.DeadlockMember{Thread: q.threadRef(m.Thread), Lock: q.lockRef(m.Lock), Frames: []string{}}
		if s := q.stackOf(m.Stack); s != nil {
			member.Frames = s.Frames[:min(len(s.Frames), maxMemberFrames)]
		}
		out.Members = append(out.Members, member)
		b.WriteString(member.Thread.Name + " -> " + wording.SimpleClass(member.Lock.Class) + " -> ")
	}
	switch {
	case len(d.Members) > len(out.Members):
		b.WriteString("...")
	case len(out.Members) > 0:
		b.WriteString(out.Members[0].Thread.Name)
	}
	out.Text = b.String()
	return out
}
