// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wording

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	nearlyAll = 0.9  // of a time: the rest need not be stated
	mentioned = 0.05 // least share of other holders that is stated
)

// Cost says in a sentence or two what made threads wait: the cause before the symptom. It says who held a lock and what that thread did meanwhile,
// and who waited for it, for how long.
func Cost(c *viewapi.Cost) []viewapi.Part {
	var s sentence
	switch {
	case c.Dumps != nil:
		s.dumped(c)
	case aims[c.Kind] != [2]string{}:
		s.ended(c)
	case c.Kind != jvmthread.WaitLock.String():
		s.waited(c).lock(c, c.Unit).at(c).heldBy(c)
	case c.Culprit && len(c.Holders) > 0:
		s.culprit(c)
	default:
		s.waited(c).lock(c, "").at(c).held(c)
	}
	s.pending(c)
	return s.text(".").parts
}

// Costs says the same of two things, of which the second may be nil.
func Costs(most, second *viewapi.Cost) []viewapi.Part {
	s := sentence{Cost(most)}
	if second == nil {
		return s.parts
	}
	s.text(" ")
	for _, p := range Cost(second) {
		s.add(p.Role, p.Text)
	}
	return s.parts
}

// Plain returns a sentence as text.
func Plain(parts []viewapi.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// sentence is written part by part.
type sentence struct{ parts []viewapi.Part }

func (s *sentence) add(role, text string) *sentence {
	if n := len(s.parts); role == "" && n > 0 && s.parts[n-1].Role == "" {
		s.parts[n-1].Text += text
	} else if text != "" {
		s.parts = append(s.parts, viewapi.Part{Text: text, Role: role})
	}
	return s
}

func (s *sentence) text(text string) *sentence { return s.add("", text) }

func (s *sentence) time(ns int64) *sentence {
	return s.add(viewapi.RoleTime, strings.TrimSpace(Duration(time.Duration(ns))))
}

// waited says who waited, and for how long: "3 matchers and 5 others waited 8.92 s for ".
func (s *sentence) waited(c *viewapi.Cost) *sentence {
	return s.add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" waited ").time(c.Time).text(" for ")
}

// lock names what threads waited for: "Inventory.lock", "a connection of HikariPool", "the ReentrantLock of Inventory.reserve".
func (s *sentence) lock(c *viewapi.Cost, unit string) *sentence {
	if unit != "" {
		s.text(unit + " of ")
	}
	switch {
	case c.Name == "":
		return s.text("a lock of unknown class")
	case c.Caller != "":
		return s.text("the ").add(viewapi.RoleLock, c.Name).text(" of ").add(viewapi.RoleMethod, SimpleFunction(c.Caller))
	}
	return s.add(viewapi.RoleLock, c.Name)
}

// whole is lock for the holder of a read-write lock: those that wait for one of its two locks do not know which one the holder has.
func (s *sentence) whole(c *viewapi.Cost) *sentence {
	whole := *c
	whole.Name = WholeLock(c.Name)
	return s.lock(&whole, "")
}

// LockOf returns the name of a lock of the JDK for which a method waits: "ReentrantLock of Inventory.reserve". The caller is empty if the name says
// enough.
func LockOf(name, caller string) string {
	if caller == "" {
		return name
	}
	return name + " of " + SimpleFunction(caller)
}

// WholeLock returns the name of a read-write lock for that of one of its two locks.
func WholeLock(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".readLock()"), ".writeLock()")
}

// at says where threads waited longest.
func (s *sentence) at(c *viewapi.Cost) *sentence {
	if c.Caller != "" {
		return s
	}
	return s.where(c)
}

func (s *sentence) where(c *viewapi.Cost) *sentence {
	if c.Site == nil || c.Site.Function == "" {
		return s
	}
	return s.text(" in ").add(viewapi.RoleMethod, SimpleFunction(c.Site.Function))
}

// culprit begins with the last lock of which a culprit waited for the next one.
func (s *sentence) culprit(c *viewapi.Cost) {
	next := c.Next
	if next == nil {
		s.holding(c).text("; ").waited(c).text("it").shares(c)
		return
	}
	if !next.Culprit {
		s.holding(c).text(", and waited for ").lock(next, next.Unit).text(" itself; ").waited(c).text("it").shares(c)
		return
	}
	s.root(next)
	holder := &c.Holders[0]
	s.text("; ").add(viewapi.RoleThread, holder.Thread.Name).text(" waited ").time(holder.Length).text(" for it holding ").whole(c).text(", for which ").
		add(viewapi.RoleThread, Threads(c.Who, c.Waiters, c.Time)).text(" waited ").time(c.Time).shares(c)
}

// root says what the culprit of a lock did, and of those between whom it stands what they held.
func (s *sentence) root(c *viewapi.Cost) {
	if c.Next == nil || !c.Next.Culprit {
		s.holding(c)
		return
	}
	s.root(c.Next)
	holder := &c.Holders[0]
	s.text("; ").add(viewapi.RoleThread, holder.Thread.Name).text(" waited ").time(holder.Length).text(" for it holding ").whole(c)
}

// pasts say what a thread did, by the first word of viewapi.Holder.Text.
var pasts = map[string]string{
	"asleep": "slept", "parked": "was parked", "waiting": "waited", "suspended": "was suspended",
}

// holding says what the culprit did: "report slept 1.20 s in Report.write holding OrderBook.lock".
func (s *sentence) holding(c *viewapi.Cost) *sentence {
	h := &c.Holders[0]
	held, while := " held ", " holding "
	if IsInitialization(c.Name) {
		held, while = " was in ", " during "
	}
	s.add(viewapi.RoleThread, h.Thread.Name)
	if run, ok := runOf(h.Text); ok && c.Next == nil {
		return s.ran(c, run, held, while)
	}
	first, rest, more := strings.Cut(h.Text, " ")
	if past := pasts[first]; past != "" && h.Part >= nearlyAll && c.Next == nil {
		s.text(" " + past + " ").time(h.Time)
		if more {
			s.text(" " + rest)
		}
		return s.text(while).whole(c)
	}
	if activities[first] && h.Part >= nearlyAll && c.Next == nil {
		return s.text(" spent ").time(h.Time).text(" " + h.Text + while).whole(c)
	}
	s.text(held).whole(c).text(" for ").time(h.Time)
	if h.Text != "" && c.Next == nil {
		s.text(", mostly " + h.Text)
	}
	return s
}

// ran says it of one that was runnable: "report held OrderBook.lock for 8.92 s, 93 % of that time waiting for a processor".
func (s *sentence) ran(c *viewapi.Cost, run Run, held, while string) *sentence {
	h := &c.Holders[0]
	if run == RunOnCPU && h.Part >= nearlyAll {
		return s.text(" ran ").time(h.Time).text(strings.TrimPrefix(h.Text, runs[run]) + while).whole(c)
	}
	s.text(held).whole(c).text(" for ").time(h.Time)
	switch {
	case run != RunUnseen:
		return s.text(", " + Percent(float64(h.Length)/float64(max(h.Time, 1))) + " of that time " + h.Text)
	case h.Part >= nearlyAll:
		return s.text(", " + h.Text)
	}
	return s.text(", mostly " + h.Text)
}

// shares says for which part of the waits the culprit held the lock, and which other threads did, unless it was the only one.
func (s *sentence) shares(c *viewapi.Cost) {
	h := &c.Holders[0]
	if h.Share >= nearlyAll {
		return
	}
	s.text(", " + Percent(h.Share) + " of that while " + h.Thread.Name + " held it")
	if len(c.Others) == 0 || c.Time == 0 {
		return
	}
	if share := float64(c.Others[0].Time) / float64(c.Time); share >= mentioned {
		s.text(", " + Percent(share) + " while " + group(&c.Others[0]) + " did")
	}
}

// held says who held a lock of which no thread is the culprit.
func (s *sentence) held(c *viewapi.Cost) {
	switch {
	case c.Stuck > 0 && (c.Unknown > 0 || len(c.Holders) == 0): // it comes next who could end it
	case c.Unknown > 0:
		s.text("; who held it for " + Percent(c.Unknown) + " of that time is not known").remedy(c)
	case len(c.Holders) == 0:
		s.text("; who held it is not known").remedy(c)
	case c.Turns != nil:
		who := "they"
		if !c.Turns.Own {
			who = Threads(c.Others, len(c.Holders)+c.More, c.Time)
		}
		s.text("; "+who+" held it in turn").turns(c.Turns, ", ")
	default:
		s.text("; " + Held(jvmthread.WaitLock, c.Holders[0].Thread.Name, c.Holders[0].Share, c.Holders[0].Text))
	}
}

// remedy says how to know who ended waits.
func (s *sentence) remedy(c *viewapi.Cost) {
	if c.Exact {
		s.text(" (with virtual=exact it is)")
	}
}

func (s *sentence) turns(t *viewapi.Turns, before string) {
	if t.Text != "" {
		s.text(before + t.Text + " for " + Percent(t.Share) + " of the time")
	}
}

// heldBy lists who had the permits or the objects of a pool.
func (s *sentence) heldBy(c *viewapi.Cost) {
	if n := c.Nested; n != nil && n.Site != nil {
		s.text("; "+Grouped(n.Threads)+" of them waited in ").add(viewapi.RoleMethod, SimpleFunction(n.Site.Function)).text(" and ")
		if n.Threads == 1 {
			s.text("seems to hold one already")
		} else {
			s.text("seem to hold one already")
		}
		if c.Unknown > 0 || len(c.Holders) == 0 {
			return
		}
	}
	switch {
	case c.Stuck > 0 && (c.Unknown > 0 || len(c.Holders) == 0): // it comes next who could end it
		return
	case c.Kind == jvmthread.WaitPermit.String() && c.Locks == 0: // it waits for the time
		s.text("; it limits a rate: no thread holds one")
		return
	case len(c.Holders) == 0:
		s.text("; who held it is not known").remedy(c)
		return
	case c.Unknown > 0:
		s.text("; who held it for " + Percent(c.Unknown) + " of that time is not known").remedy(c)
		return
	}
	names := make([]string, len(c.Holders))
	for i := range c.Holders {
		names[i] = c.Holders[i].Thread.Name
	}
	s.text("; held by " + Listed(names, len(c.Holders)+c.More))
	switch {
	case c.Turns != nil:
		s.turns(c.Turns, ", ")
	case c.Holders[0].Text != "":
		s.text(", mostly " + c.Holders[0].Text)
	}
}
