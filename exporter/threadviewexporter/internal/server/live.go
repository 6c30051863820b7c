// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
)

// change returns the state of all sessions.
func (v *View) change(version, removed, seen uint64) api.Change {
	out := api.Change{Version: version, Sessions: []api.SessionChange{}, Reset: removed != seen}
	for i, sn := range v.store.Sessions() {
		if i == maxSessions {
			break
		}
		out.Sessions = append(out.Sessions, api.SessionChange{
			ID: sn.ID.String(), Version: sn.Version, From: int64(sn.From - sn.Origin), To: int64(sn.To - sn.Origin), Live: sn.Live, Deadlocks: min(len(sn.Deadlocks), maxDeadlocks),
		})
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
		if _, err := fmt.Fprint(w, text); err != nil {
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
