// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
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
	out := viewapi.Sessions{Total: len(all), Offset: page.offset, Sessions: []viewapi.Session{}}
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
func (v *View) describe(sn *store.Snapshot) viewapi.Session {
	q := &query{view: v, sn: sn}
	s := viewapi.Session{
		ID: sn.ID.String(), Service: sn.Meta["service.name"], Host: sn.Meta["host.name"], Command: sn.Meta["process.command_line"],
		JVM:        strings.TrimSpace(sn.Meta["process.runtime.name"] + " " + sn.Meta["process.runtime.version"]),
		Attributes: sn.Meta, Origin: strconv.FormatInt(int64(sn.Origin), 10), From: q.rel(sn.From), To: q.rel(sn.To),
		Live: sn.Live, Ended: string(sn.Ended), Version: sn.Version, Intervals: sn.Counts.Intervals, Interactions: sn.Counts.Interactions,
		Locks: sn.KnownLocks, Events: sn.Events, Lost: sn.Lost, Missed: sn.Missed, Bytes: sn.Bytes, Evicted: sn.Evicted, Incidents: len(sn.Incidents),
		Gaps: []viewapi.Gap{}, Deadlocks: []viewapi.Deadlock{},
	}
	if s.Attributes == nil {
		s.Attributes = map[string]string{}
	}
	s.PID, _ = strconv.ParseInt(sn.Meta["process.pid"], 10, 64)
	for i := range sn.Threads {
		if t := &sn.Threads[i]; t.Known && t.ID != jvmthread.PausesThread {
			s.Threads++
			if !t.Virtual {
				s.PlatformThreads++
			}
		}
	}
	for _, g := range sn.Gaps {
		s.Gaps = append(s.Gaps, viewapi.Gap{From: q.rel(g.Start), To: q.rel(g.End), Lost: g.Lost, Missed: g.Missed})
	}
	for i := max(0, len(sn.Deadlocks)-maxDeadlocks); i < len(sn.Deadlocks); i++ {
		s.Deadlocks = append(s.Deadlocks, q.deadlock(&sn.Deadlocks[i]))
	}
	s.Control = v.controlOf(sn.ID)
	return s
}

func (q *query) deadlock(d *store.Deadlock) viewapi.Deadlock {
	out := viewapi.Deadlock{ID: threadpdata.DeadlockID(q.sn.ID, d.Cycle), Since: q.rel(d.Since), Members: []viewapi.DeadlockMember{}}
	if d.Until > 0 {
		out.Until = q.rel(d.Until)
	}
	var b strings.Builder
	for i := range d.Members[:min(len(d.Members), maxMembers)] {
		m := &d.Members[i]
		member := viewapi.DeadlockMember{
			Thread: q.threadRef(m.Thread), Lock: q.lockRef(m.Lock), Name: q.nameAt(m.Wait, q.sn.Class(m.Lock), m.Stack), Frames: []string{},
		}
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

// change returns the state of all sessions.
func (v *View) change(version, removed, seen uint64) viewapi.Change {
	out := viewapi.Change{Version: version, Sessions: []viewapi.SessionChange{}, Reset: removed != seen}
	for i, sn := range v.store.Sessions() {
		if i == maxSessions {
			break
		}
		change := viewapi.SessionChange{
			ID: sn.ID.String(), Version: sn.Version, From: int64(sn.From - sn.Origin), To: int64(sn.To - sn.Origin), Live: sn.Live, Incidents: len(sn.Incidents),
		}
		for i := max(0, len(sn.Deadlocks)-maxDeadlocks); i < len(sn.Deadlocks); i++ {
			change.Deadlocks++
			if sn.Deadlocks[i].Until > 0 {
				change.Ended++
			}
		}
		out.Sessions = append(out.Sessions, change)
	}
	return out
}

const (
	usualWait   = 20_000
	longestWait = 30_000
)

// changes answers on the next change, or after a time-out.
func (v *View) changes(w http.ResponseWriter, r *http.Request) *Problem {
	p := newParams(r.URL.Query())
	since := p.number("since", 0, 0, farAway)
	wait := time.Duration(p.number("wait", usualWait, 0, longestWait)) * time.Millisecond
	if wrong := p.done(); wrong != nil {
		return wrong
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + eventAlive)) // the server's may be shorter
	version, removed, next := v.store.Changed()
	before := removed
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for waiting := true; waiting && version == uint64(since); {
		select {
		case <-next:
			version, removed, next = v.store.Changed()
		case <-timer.C:
			waiting = false
		case <-r.Context().Done():
			return nil
		case <-v.stop:
			waiting = false
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	return v.write(w, v.change(version, removed, before))
}

const (
	eventPause = 200 * time.Millisecond // between two events
	eventAlive = 15 * time.Second       // between two keep-alive comments
	maxStreams = 64
)

// events sends server-sent events while the page is open.
func (v *View) events(w http.ResponseWriter, r *http.Request) *Problem {
	p := newParams(r.URL.Query())
	since := p.number("since", 0, 0, farAway)
	if wrong := p.done(); wrong != nil {
		return wrong
	}
	if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		since = last
	}
	if v.streams.Add(1) > maxStreams {
		v.streams.Add(-1)
		return problem(http.StatusServiceUnavailable, "too many open pages: at most %d can follow the sessions", maxStreams)
	}
	defer v.streams.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	rc := http.NewResponseController(w)
	send := func(text string) bool {
		// The server's time-out is for a whole response. This one is endless, so each part gets its own.
		_ = rc.SetWriteDeadline(time.Now().Add(eventAlive))
		if _, err := fmt.Fprint(w, text); err != nil { //nolint:gosec // the texts of sessions are in JSON, and the type is not HTML
			return false
		}
		return rc.Flush() == nil
	}
	if !send("retry: 2000\n\n") {
		return nil
	}
	known, first := uint64(since), true
	_, seen, _ := v.store.Changed()
	alive := time.NewTicker(eventAlive)
	defer alive.Stop()
	for {
		version, removed, next := v.store.Changed()
		if first || version != known {
			body, err := json.Marshal(v.change(version, removed, seen))
			if err != nil || !send(fmt.Sprintf("event: change\nid: %d\ndata: %s\n\n", version, body)) {
				return nil
			}
			known, seen, first = version, removed, false
			if !v.pause(r) {
				return nil
			}
			continue
		}
		select {
		case <-next:
		case <-alive.C:
			if !send(": alive\n\n") {
				return nil
			}
		case <-r.Context().Done():
			return nil
		case <-v.stop:
			return nil
		}
	}
}

// pause collects changes for a while. It returns false if the client is gone or the View is closed.
func (v *View) pause(r *http.Request) bool {
	timer := time.NewTimer(eventPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	case <-v.stop:
		return false
	}
}
