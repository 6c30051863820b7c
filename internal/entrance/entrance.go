// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package entrance answers: where do agents connect to this process, and which of them were turned away? Receivers report both, and the page
// shows them to people whose JVM does not appear.
//
// Everyone who reaches the page may read it: reports name no secrets, and no texts that an authenticator wrote.
package entrance

import (
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weft-otel/weft/internal/printable"
)

// Bounds of what is kept: anyone who can connect can add a refusal.
const (
	MaxRefusals = 20
	maxOpen     = 20
	maxText     = 200 // bytes of a text from the network
	maxReason   = 400
)

// Process has the entrances of this process. Receivers and exporters know nothing of each other, and carriers, which they exchange, are about
// sessions, which a refused agent has none of.
var Process = new(Board) //nolint:gochecknoglobals // as above

// Door is an open listener.
type Door struct {
	Address string // as an agent's option endpoint has it: tcp://localhost:4327, unix:///run/weft/weft.sock
	TLS     bool   // agents need tls=on
	Auth    bool   // agents need credentials
}

// Refusal is an agent, or another program, that did not get in.
type Refusal struct {
	At      time.Time // the last time
	Remote  string    // address
	Service string    // of its hello; empty: unknown
	PID     uint32    // 0: unknown
	Reason  string
	Remedy  string
	Times   int // how often this happened
}

// Board holds the last refusals and the open doors. Safe for concurrent use.
type Board struct {
	mu       sync.Mutex
	doors    []*Door
	refusals []Refusal // newest first
}

// Open adds a door until the returned function is called.
func (b *Board) Open(d Door) (closed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	added := &d
	if len(b.doors) < maxOpen {
		b.doors = append(b.doors, added)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.doors = slices.DeleteFunc(b.doors, func(one *Door) bool { return one == added })
	}
}

// Refuse adds a refusal. One for the same reason replaces that of the same process, so that an agent that tries again and again leaves room for
// others.
func (b *Board) Refuse(r Refusal) {
	r.Remote, r.Service, r.Reason = short(r.Remote, maxText), short(r.Service, maxText), short(r.Reason, maxReason)
	r.Times = 1
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.refusals, func(old Refusal) bool { return same(&old, &r) })
	if i >= 0 {
		r.Times += b.refusals[i].Times
		b.refusals = slices.Delete(b.refusals, i, i+1)
	}
	b.refusals = slices.Insert(b.refusals, 0, r)
	b.refusals = b.refusals[:min(len(b.refusals), MaxRefusals)]
}

// same reports whether two refusals are of the same process for the same reason; of an unknown process, its host is known.
func same(a, b *Refusal) bool {
	return a.PID == b.PID && a.Service == b.Service && a.Remedy == b.Remedy && host(a.Remote) == host(b.Remote) && (a.Reason == b.Reason || a.PID == 0)
}

func host(remote string) string {
	if name, _, err := net.SplitHostPort(remote); err == nil {
		return name
	}
	return remote
}

// short returns a text without characters that hide or move others, and not too long.
func short(text string, most int) string {
	text = printable.Text(strings.ToValidUTF8(text[:min(len(text), most)], ""))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// Refusals returns the last refusals, the newest first.
func (b *Board) Refusals() []Refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.refusals)
}

// Doors returns the open doors.
func (b *Board) Doors() []Door {
	b.mu.Lock()
	defer b.mu.Unlock()
	doors := make([]Door, len(b.doors))
	for i, d := range b.doors {
		doors[i] = *d
	}
	return doors
}
