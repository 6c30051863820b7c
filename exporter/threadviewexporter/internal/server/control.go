// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"mime"
	"net/http"
	"time"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	answerTime = 5 * time.Second
	maxBody    = 64 << 10
)

// controlOf says what an agent is known to have been told. It is nil if its agent cannot be told anything from here.
func (v *View) controlOf(id jvmthread.SessionID) *api.Control {
	if v.cfg.Agents == nil {
		return nil
	}
	if _, err := v.cfg.Agents.Lookup(id); err != nil {
		v.said.Delete(id)
		return nil
	}
	if known, ok := v.said.Load(id); ok {
		c := *known.(*api.Control)
		return &c
	}
	return &api.Control{Options: map[string]string{}}
}

// control asks an agent for its options, or tells it something.
func (v *View) control(w http.ResponseWriter, r *http.Request) {
	sn, p := v.snapshot(r)
	if p == nil {
		p = newParams(r.URL.Query()).done()
	}
	var options map[string]string
	if p == nil && r.Method == http.MethodPost {
		options, p = wish(w, r)
	}
	if p != nil {
		v.fail(w, p)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	body, err := json.Marshal(v.tell(ctx, sn, options))
	w.Header().Set("Cache-Control", "no-store")
	v.write(w, body, err)
}

// wish reads what is asked for. That it has to be JSON keeps forms of other pages out, which cannot send that.
func wish(w http.ResponseWriter, r *http.Request) (map[string]string, *Problem) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, problem(http.StatusUnsupportedMediaType, "the body must be application/json")
	}
	var ask api.ControlRequest
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&ask); err != nil {
		return nil, problem(http.StatusBadRequest, "the body is no request: %v", err)
	}
	switch {
	case ask.Action != "options" && len(ask.Options) > 0:
		return nil, &Problem{http.StatusBadRequest, "options: only for the action options", "options"}
	case ask.Action == "pause":
		return map[string]string{"pause": "on"}, nil
	case ask.Action == "resume":
		return map[string]string{"pause": "off"}, nil
	case ask.Action == "snapshot":
		return map[string]string{"snapshot": "now"}, nil
	case ask.Action == "options" && len(ask.Options) > 0:
		return ask.Options, nil
	}
	return nil, &Problem{http.StatusBadRequest, "action: want pause, resume, snapshot, or options with at least one", "action"}
}

// tell asks the agent of a session. That it refuses is an answer, too.
func (v *View) tell(ctx context.Context, sn *store.Snapshot, options map[string]string) api.ControlAnswer {
	var status agentcontrolextension.Status
	agent, err := v.cfg.Agents.Lookup(sn.ID)
	if err == nil {
		status, err = agent.Control(ctx, options)
	}
	var refused *agentcontrolextension.AgentError
	switch {
	case errors.As(err, &refused):
		return api.ControlAnswer{Message: "the agent refused: " + refused.Message, Control: v.controlOf(sn.ID)}
	case err != nil:
		return api.ControlAnswer{Message: err.Error(), Control: v.controlOf(sn.ID)}
	}
	now := &api.Control{Paused: status.Options["pause"] == "on", Options: maps.Clone(status.Options)}
	if now.Options == nil {
		now.Options = map[string]string{}
	}
	v.said.Store(sn.ID, now)
	return api.ControlAnswer{Done: true, Control: now}
}
