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

// change says how far all sessions are.
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

// changes answers as soon as something has changed, or after a while.
func (v *View) changes(w http.ResponseWriter, r *http.Request) {
	p := newParams(r.URL.Query())
	since := p.number("since", 0, 0, farAway)
	wait := p.number("wait", usualWait, 0, longestWait)
	if wrong := p.done(); wrong != nil {
		v.fail(w, wrong)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Duration(wait)*time.Millisecond + eventAlive)) // the server's may be shorter
	version, removed, next := v.store.Changed()
	before := removed
	timer := time.NewTimer(time.Duration(wait) * time.Millisecond)
	defer timer.Stop()
	for waiting := true; waiting && version == uint64(since); {
		select {
		case <-next:
			version, removed, next = v.store.Changed()
		case <-timer.C:
			waiting = false
		case <-r.Context().Done():
			return
		case <-v.stop:
			waiting = false
		}
	}
	body, err := json.Marshal(v.change(version, removed, before))
	w.Header().Set("Cache-Control", "no-store")
	v.write(w, body, err)
}

const (
	eventPause = 200 * time.Millisecond // between two events: a page cannot use more
	eventAlive = 15 * time.Second       // between two signs of life
	maxStreams = 64
)

// events sends server-sent events while the page is open.
func (v *View) events(w http.ResponseWriter, r *http.Request) {
	p := newParams(r.URL.Query())
	since := p.number("since", 0, 0, farAway)
	if wrong := p.done(); wrong != nil {
		v.fail(w, wrong)
		return
	}
	if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		since = last
	}
	if v.streams.Add(1) > maxStreams {
		v.streams.Add(-1)
		v.fail(w, problem(http.StatusServiceUnavailable, "more than %d pages follow already", maxStreams))
		return
	}
	defer v.streams.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	rc := http.NewResponseController(w)
	send := func(text string) bool {
		// The server's time-out is for an answer as a whole; this one has no end, so that each part has its own.
		_ = rc.SetWriteDeadline(time.Now().Add(eventAlive))
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return rc.Flush() == nil
	}
	if !send("retry: 2000\n\n") {
		return
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
				return
			}
			known, seen, first = version, removed, false
			if !v.pause(r) {
				return
			}
			continue
		}
		select {
		case <-next:
		case <-alive.C:
			if !send(": alive\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		case <-v.stop:
			return
		}
	}
}

// pause lets some changes come together. It returns false if nobody listens any more.
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
