// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Incident is an episode of contention, or another reason for which threads waited, with all that the page needs to show it. Its texts are its own: it outlives its windows, and with them
// the names, locks and stacks of the session.
type Incident struct {
	IncidentID

	End      jvmthread.Time
	Open     bool   // not over at its end
	Object   string // what threads waited for
	Waiters  string // how many threads of which names waited: 3 × matcher-*, main
	Name     string // as of its trace: contention OrderBook
	Text     string // what happened, in a sentence
	Blocked  time.Duration
	Longest  time.Duration // of its waits
	Count    uint64        // its waits
	Threads  int           // that waited
	TimedOut uint64        // of its waits
	Holds    []IncidentPart
	Waits    []IncidentPart
	Cast     []jvmthread.ThreadID // that took part: the holder that cost most, other holders, then waiters in the order of their waits
	More     int                  // threads that took part and are not in Cast
	Requests [][16]byte           // trace IDs of requests of which threads waited
}

// Deadlock reports whether it is a deadlock.
func (inc *Incident) Deadlock() bool { return inc.Kind == KindDeadlock }

// The kinds of incidents: those of package incident, and two that do not consist of contended waits.
const (
	KindContention        = "contention"
	KindDeadlock          = "deadlock"
	KindPoolExhausted     = "pool_exhausted"
	KindCarriersStarved   = "carriers_starved"
	KindLostNotify        = "lost_notify"
	KindPotentialDeadlock = "potential_deadlock"
)

// Kinds returns all kinds, in the order in which they are listed.
func Kinds() []string {
	return []string{KindDeadlock, KindContention, KindPoolExhausted, KindCarriersStarved, KindLostNotify, KindPotentialDeadlock}
}

// IncidentID identifies an incident of a session, see incident.ID.
type IncidentID struct {
	Kind  string
	Start jvmthread.Time
	First jvmthread.ThreadID
}

// is reports whether both are the same incident. That of contended waits may turn out to be a deadlock.
func (id *IncidentID) is(other *IncidentID) bool {
	contended := func(kind string) bool { return kind != KindLostNotify && kind != KindPotentialDeadlock }
	return id.Start == other.Start && id.First == other.First && (id.Kind == other.Kind || contended(id.Kind) && contended(other.Kind))
}

// IncidentPart is a wait, or a hold of what others waited for, within an incident.
type IncidentPart struct {
	Start, End jvmthread.Time
	Thread     jvmthread.ThreadID
	Name       string        // of the thread
	Object     string        // what it held or waited for
	Blocked    time.Duration // of a hold: of others meanwhile
	Text       string        // in a sentence
	Function   string        // the method of the application in which it was; empty: unknown
	Frames     []string      // where it waited, or what it did: innermost first
	Trace      string        // of the request that the thread worked on, in hexadecimal digits; empty: unknown
	Span       string
}

// An incident has at most so many holds, waits, threads, requests, and frames and bytes of each text: 36 KiB at the very most, usually a fifth of
// that.
const (
	MaxIncidentCast     = 200
	MaxIncidentRequests = 33
	MaxIncidentHolds    = 3
	MaxIncidentWaits    = 5
	MaxIncidentFrames   = 5
	maxIncidentText     = 300
)

// shorten bounds the texts of an incident, which come from a JVM.
func (inc *Incident) shorten() {
	inc.Name, inc.Text, inc.Object, inc.Waiters = brief(inc.Name), brief(inc.Text), brief(inc.Object), brief(inc.Waiters)
	inc.More += max(0, len(inc.Cast)-MaxIncidentCast)
	inc.Cast = slices.Clone(inc.Cast[:min(len(inc.Cast), MaxIncidentCast)])
	inc.Requests = slices.Clone(inc.Requests[:min(len(inc.Requests), MaxIncidentRequests)])
	inc.Holds = shortened(inc.Holds, MaxIncidentHolds)
	inc.Waits = shortened(inc.Waits, MaxIncidentWaits)
}

func shortened(list []IncidentPart, most int) []IncidentPart {
	out := slices.Clone(list[:min(len(list), most)])
	for i := range out {
		p := &out[i]
		p.Name, p.Object, p.Text, p.Trace, p.Span = brief(p.Name), brief(p.Object), brief(p.Text), brief(p.Trace), brief(p.Span)
		p.Function = brief(p.Function)
		p.Frames = slices.Clone(p.Frames[:min(len(p.Frames), MaxIncidentFrames)])
		for j := range p.Frames {
			p.Frames[j] = brief(p.Frames[j])
		}
	}
	return out
}

// brief returns a copy of a text, or of its begin if it is long. The text may be a small part of a large one.
func brief(s string) string {
	if len(s) <= maxIncidentText {
		return strings.Clone(s)
	}
	end := maxIncidentText
	for !utf8.RuneStart(s[end]) && end > 0 {
		end--
	}
	return s[:end] + "..."
}

func (inc *Incident) size() int64 {
	const own, perPart, perFrame, perThread, perRequest = 320, 220, 16, 8, 16
	n := own + len(inc.Name) + len(inc.Text) + len(inc.Object) + len(inc.Waiters) + perThread*len(inc.Cast) + perRequest*len(inc.Requests)
	for _, list := range [][]IncidentPart{inc.Holds, inc.Waits} {
		for i := range list {
			p := &list[i]
			n += perPart + len(p.Name) + len(p.Object) + len(p.Function) + len(p.Text) + len(p.Trace) + len(p.Span)
			for _, frame := range p.Frames {
				n += perFrame + len(frame)
			}
		}
	}
	return int64(n)
}

// Compare orders incidents by what they cost, deadlocks last.
func (inc *Incident) Compare(other *Incident) int {
	if inc.Deadlock() != other.Deadlock() {
		if other.Deadlock() {
			return -1
		}
		return 1
	}
	return inc.compareCost(other)
}

// rather reports whether an incident is dropped rather than another one. Potential deadlocks cost nothing yet; there are few.
func (inc *Incident) rather(other *Incident) bool {
	rank := func(inc *Incident) int {
		return slices.Index([]string{KindPotentialDeadlock, KindDeadlock}, inc.Kind)
	}
	return cmp.Or(cmp.Compare(rank(inc), rank(other)), inc.compareCost(other)) < 0
}

func (inc *Incident) compareCost(other *Incident) int {
	return cmp.Or(cmp.Compare(inc.Blocked, other.Blocked), cmp.Compare(inc.Start, other.Start), cmp.Compare(inc.First, other.First))
}

const (
	// allIncidents is the part of the store, as a divisor, that incidents may take, with all that is left of sessions without windows.
	allIncidents = 16
	// MaxIncidents bounds the incidents of a session.
	MaxIncidents = 64
	// newIncidents is how many of them stay because they are the newest.
	newIncidents = 16
)

// AddIncident keeps an incident, of contention unless it has a kind, with copies of its texts. One that the session has already is replaced.
func (s *Session) AddIncident(inc Incident) {
	inc.Kind = cmp.Or(inc.Kind, KindContention)
	inc.shorten()
	s.stable.Lock()
	defer s.stable.Unlock()
	s.store.keep(s, &inc)
	s.store.touch()
}

func (s *Session) pushIncident(inc *Incident, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Incidents = append(slices.Clone(s.now.Incidents), inc)
	s.now.Bytes += size
	s.changed()
}

func (s *Session) incidents() []*Incident {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Incidents
}

// dropIncident removes the incident with this ID, or else the least important one, and returns its size, and false if there is none: the mildest
// one that is not among the newest, which are what somebody asks about first.
func (s *Session) dropIncident(id *IncidentID) (freed int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.now.Incidents
	least := -1
	if id != nil {
		least = slices.IndexFunc(list, func(inc *Incident) bool { return inc.is(id) })
	} else {
		// A session that must give up many keeps costly ones, too.
		for i := range list[:len(list)-min(newIncidents, len(list)/2)] {
			if least < 0 || list[i].rather(list[least]) {
				least = i
			}
		}
	}
	if least < 0 {
		return 0, false
	}
	freed = list[least].size()
	s.now.Incidents = slices.Delete(slices.Clone(list), least, least+1)
	s.now.Bytes -= freed
	s.changed()
	return freed, true
}

// strip forgets what only windows refer to. The session has ended, and has no windows. It returns the bytes that are left.
func (s *Session) strip() (left int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sites = &sites{rules: s.store.rules}
	s.classes, s.stacks, s.locks = newTexts(), newTexts(), newLocks()
	clear(s.threadIDs)
	s.freeThreads, s.translation = nil, translation{}
	s.now.Threads, s.now.Deadlocks, s.now.Gaps, s.now.rollups, s.loose = make([]Thread, 1), nil, nil, nil, 0
	left = sessionBytes + s.now.Meta.size()
	for _, inc := range s.now.Incidents {
		left += inc.size()
	}
	s.now.Bytes = left
	s.changed()
	return left
}
