// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// headline says in a sentence or two what made threads wait most: the cause before the symptom.
func (s *Summary) headline(objects []*object) string {
	if len(s.Deadlocks) > 0 {
		return deadlockHeadline(s.Deadlocks)
	}
	if s.Windows == 0 && s.Aggregates == 0 {
		return ""
	}
	hottest := slices.IndexFunc(s.Locks, func(l Lock) bool { return l.Blocked > 0 })
	if hottest < 0 {
		return s.quiet()
	}
	if len(objects) == 0 {
		l := s.Locks[hottest]
		return "Threads waited " + units.Human(l.Blocked) + " for " + wording.SimpleClass(l.Class) + "; who held it is not known"
	}
	text := s.cause(objects[0], objects)
	if s.negligible() {
		return "Locks cost little here. " + text
	}
	return text
}

// negligible reports whether all waits for locks were short compared with the time in which threads ran.
func (s *Summary) negligible() bool {
	var blocked, ran time.Duration
	for i := range s.Locks {
		blocked += s.Locks[i].Blocked
	}
	for _, state := range s.States {
		if state.Name == jvmthread.StateRunnable.String() {
			ran = state.Time
		}
	}
	return blocked < ran/1000
}

// deadlockHeadline says who waits for whom.
func deadlockHeadline(deadlocks []Deadlock) string {
	const most = 4
	d := &deadlocks[0]
	parts := strings.Split(d.Threads, " -> ")
	var b strings.Builder
	b.WriteString(units.Plural(int64(len(parts)/2), "thread") + " deadlocked at " + d.Since.UTC().Format("15:04:05 UTC") + ": ")
	for i := 0; i+2 < len(parts); i += 2 {
		switch {
		case i == 2*most:
			b.WriteString(", …")
		case i > 2*most:
		case i > 0:
			b.WriteString(", " + parts[i] + " for " + parts[i+1] + " held by " + parts[i+2])
		default:
			b.WriteString(parts[i] + " waits for " + parts[i+1] + " held by " + parts[i+2])
		}
	}
	if more := len(deadlocks) - 1; more > 0 {
		b.WriteString("; and " + units.Plural(int64(more), "more deadlock"))
	}
	return b.String()
}

// cause says who held an object, what it did meanwhile, and who waited for how long.
func (s *Summary) cause(o *object, objects []*object) string {
	length, atLeast := s.length(o)
	sentence := func(culprit string) string {
		return threadsOf(o.waiters(culprit)) + " waited " + atLeast + units.Human(length) + " for "
	}
	waited, holders := sentence(""), o.held()
	switch {
	case o.kind != jvmthread.WaitLock:
		return waited + o.noun() + o.at() + o.heldBy(holders)
	case len(holders) == 0:
		return waited + o.what() + o.at() + "; who held it is not known"
	case o.holders[holders[0]] == 0:
		return waited + o.what() + o.at() + "; " + listed(holders) + " held it"
	}
	first := o.culprit(holders)
	if first == "" {
		return waited + o.what() + o.at() + s.inTurn(o, holders)
	}
	waited = sentence(first)
	other, length := waitsItself(first, o, objects)
	if other == nil {
		return s.held(o, first) + "; " + waited + "it" + o.shares(first, holders)
	}
	// If the holder waited for another lock for about as long as others waited for it, the cause is who held that one.
	if root := other.culpritOf(length, o.heldFor(first)); root != "" && root != first {
		return s.held(other, root) + "; " + first + " waited " + units.Human(length) + " for it holding " + o.whole() + ", for which " +
			strings.TrimSuffix(waited, " for ") + o.shares(first, holders)
	}
	return s.held(o, first) + ", and waited for " + other.what() + " itself; " + waited + "it" + o.shares(first, holders)
}

// length returns how long threads waited for an object. If some of the waits have no span and may have been for another object of the class,
// it was at least so long.
func (s *Summary) length(o *object) (length time.Duration, atLeast string) {
	i := slices.IndexFunc(s.Locks, func(l Lock) bool { return l.Class == o.class })
	switch {
	case i < 0:
		return o.time, ""
	case o.alone:
		return max(s.Locks[i].Blocked, o.time), ""
	case s.Locks[i].Blocked > o.alike:
		return o.time, "at least "
	}
	return o.time, ""
}

// verbs say what a holder did.
var verbs = map[string]string{
	"sleeping": "slept ", "runnable": "ran ", "waiting": "waited ", "parked": "waited ", "joining": "waited ", "blocked": "was blocked ",
}

// held says what the main holder of a lock did: "report slept 1.20 s in Report.write holding OrderBook.lock".
func (s *Summary) held(o *object, holder string) string {
	d, length := o.of(holder), o.heldFor(holder)
	verb, place := verbs[d.state], ""
	if d.function != "" {
		place = " in " + wording.SimpleFunction(d.function)
	}
	// The state is the longest one of each hold. It lasted as long as that of all holders of the class together at most.
	if i := slices.IndexFunc(s.Locks, func(l Lock) bool { return l.Class == o.class }); i >= 0 && verb != "" {
		if state := s.Locks[i].stateTime(d.state); state*10 < length*9 {
			return holder + " held " + o.whole() + " for " + units.Human(length) + ", mostly " + d.words()
		}
	}
	if verb == "" {
		return holder + " held " + o.whole() + " for " + units.Human(length)
	}
	return holder + " " + verb + units.Human(length) + place + " holding " + o.whole()
}

// waitsItself returns the object of another lock that a holder waited for, and for how long; nil if it did not.
func waitsItself(holder string, held *object, objects []*object) (*object, time.Duration) {
	if state := held.of(holder).state; state != jvmthread.StateBlocked.String() && state != jvmthread.StateParked.String() {
		return nil, 0
	}
	for _, o := range objects {
		for _, w := range o.threads {
			if o != held && w.name == holder {
				return o, w.time
			}
		}
	}
	return nil, 0
}

// quiet says what threads did if none waited for a lock.
func (s *Summary) quiet() string {
	text := "No thread had to wait for a lock"
	if len(s.Recordings) > 0 {
		text = "The recording has no wait for a lock"
	}
	for _, w := range s.Waits {
		if w.Idle || w.Time == 0 {
			continue
		}
		text += "; most time went to " + units.Human(w.Time) + " of " + kindWords[kindNamed(w.Kind)]
		if w.Site != "" {
			text += ", in " + wording.SimpleFunction(w.Site)
		}
		return text
	}
	return text
}
