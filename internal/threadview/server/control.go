// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	answerTime = 5 * time.Second
	maxBody    = 64 << 10
)

// Agents are the connected agents, by session. They may be used concurrently.
type Agents interface {
	// Connected reports whether the agent of a session can be controlled.
	Connected(session jvmthread.SessionID) bool
	// Control changes options of an agent, all or none of them, and returns the current ones. Without options it only requests these.
	Control(ctx context.Context, session jvmthread.SessionID, options map[string]string) (current map[string]string, err error)
}

// controlOf returns the last known state of an agent, or nil if it cannot be controlled.
func (v *View) controlOf(id jvmthread.SessionID) *viewapi.Control {
	if v.cfg.Agents == nil {
		return nil
	}
	if !v.cfg.Agents.Connected(id) {
		v.controls.Delete(id)
		return nil
	}
	if known, ok := v.controls.Load(id); ok {
		return known.(*viewapi.Control)
	}
	return &viewapi.Control{Options: map[string]string{}}
}

// control requests the options of an agent, or changes them.
func (v *View) control(w http.ResponseWriter, r *http.Request, sn *store.Snapshot) *Problem {
	p := newParams(r.URL.Query()).done()
	var options map[string]string
	if p == nil && r.Method == http.MethodPost {
		options, p = controlOptions(w, r)
	}
	if p != nil {
		return p
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	w.Header().Set("Cache-Control", "no-store")
	return v.write(w, v.configure(ctx, sn, options))
}

// controlOptions reads the options to send. Requiring JSON keeps out forms of other pages, which cannot send it.
func controlOptions(w http.ResponseWriter, r *http.Request) (map[string]string, *Problem) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, problem(http.StatusUnsupportedMediaType, "want a body of type application/json")
	}
	var req viewapi.ControlRequest
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		return nil, problem(http.StatusBadRequest, "invalid request body: %v", err)
	}
	actions := map[string]map[string]string{
		"pause": {"pause": "on"}, "resume": {"pause": "off"}, "snapshot": {"snapshot": "now"}, "options": req.Options,
	}
	if req.Action != "options" && len(req.Options) > 0 {
		return nil, &Problem{http.StatusBadRequest, "options: only allowed with action options", "options"}
	}
	if options := actions[req.Action]; len(options) > 0 {
		return options, nil
	}
	return nil, &Problem{http.StatusBadRequest, "action: want pause, resume, snapshot, or options with at least one option", "action"}
}

// configure sends options to the agent of a session.
func (v *View) configure(ctx context.Context, sn *store.Snapshot, options map[string]string) viewapi.ControlAnswer {
	current, err := v.cfg.Agents.Control(ctx, sn.ID, options)
	if err != nil {
		return viewapi.ControlAnswer{Message: err.Error(), Control: v.controlOf(sn.ID)}
	}
	now := &viewapi.Control{Paused: current["pause"] == "on", Options: maps.Clone(current)}
	if now.Options == nil {
		now.Options = map[string]string{}
	}
	v.controls.Store(sn.ID, now)
	return viewapi.ControlAnswer{Done: true, Control: now}
}
