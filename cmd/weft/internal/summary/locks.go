// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/engine/waits"
	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// lockOf reads the sums of a class from an event of a root span.
func lockOf(attrs pcommon.Map) Lock {
	l := Lock{
		Class:       text(attrs, "weft.lock.class"),
		Contentions: number(attrs, "weft.lock.contentions"),
		Handoffs:    number(attrs, "weft.lock.handoffs"),
		Blocked:     duration(attrs, "weft.lock.blocked.time"),
		BlockedMax:  duration(attrs, "weft.lock.blocked.max"),
		Waiters:     number(attrs, "weft.lock.waiters"),
		Holds:       number(attrs, "weft.lock.holds"),
		Held:        duration(attrs, "weft.lock.held.time"),
		HeldMax:     duration(attrs, "weft.lock.held.max"),
		Waits:       number(attrs, "weft.lock.waits"),
		Waited:      duration(attrs, "weft.lock.waited.time"),
		Folded:      number(attrs, "weft.folded.contended.count"),
		FoldedTime:  duration(attrs, "weft.folded.contended.time"),
	}
	for state := range l.Holders {
		l.Holders[state] = duration(attrs, "weft.lock.holder."+jvmthread.State(state).String())
	}
	return l
}

// lock returns the row of a class.
func (c *collection) lock(class string) *Lock {
	lock := c.locks[class]
	if lock == nil {
		lock = &Lock{Class: class}
		c.locks[class] = lock
	}
	return lock
}

func (l *Lock) add(more Lock) {
	l.Contentions += more.Contentions
	l.Handoffs += more.Handoffs
	l.Blocked += more.Blocked
	l.BlockedMax = max(l.BlockedMax, more.BlockedMax)
	l.Waiters = max(l.Waiters, more.Waiters)
	l.Holds += more.Holds
	l.Held += more.Held
	l.HeldMax = max(l.HeldMax, more.HeldMax)
	l.Waits += more.Waits
	l.Waited += more.Waited
	l.Folded += more.Folded
	l.FoldedTime += more.FoldedTime
	for state := range l.Holders {
		l.Holders[state] += more.Holders[state]
	}
}

// stateTime returns for how long holders were in a state.
func (l *Lock) stateTime(state string) time.Duration {
	for s := range l.Holders {
		if jvmthread.State(s).String() == state {
			return l.Holders[s]
		}
	}
	return 0
}

// addAggregate adds what an agent in aggregated mode counted in some seconds: no threads, owners or handoffs.
func (c *collection) addAggregate(a *jvmthread.Aggregate, sym *symbols.Table, classifier *waits.Classifier, session *recording.Session) {
	c.sum.Aggregates++
	service := ""
	for _, attribute := range session.Attributes {
		if attribute.Key == "service.name" {
			service = attribute.Value
		}
	}
	c.addSession(service, session.ID.String(), time.Unix(0, int64(a.From)).UTC(), time.Unix(0, int64(a.To)).UTC())
	for i := range a.Series {
		s := &a.Series[i]
		sum := windows.Sum{Count: s.Count(), Time: time.Duration(s.Sum)}
		c.addTime(s.Kind.State(), sum)
		class := sym.Class(s.Class)
		if s.Overflow {
			class = otherLocks
		}
		iv := jvmthread.Interval{State: s.Kind.State(), Lock: jvmthread.LockID{Class: s.Class}, Stack: s.Stack}
		kind := classifier.Wait(&iv)
		c.addKind(kind, sum)
		if site := classifier.Site(s.Stack); site.Function != "" {
			add(c.sites, siteKey{kind, site.Function, site.Entry}, sum.Time)
		}
		switch {
		case kind.Contended():
			c.lock(class).add(Lock{Contentions: int64(sum.Count), Blocked: sum.Time, BlockedMax: time.Duration(s.Max)})
		case iv.State == jvmthread.StateWaiting:
			c.lock(class).add(Lock{Waits: int64(sum.Count), Waited: sum.Time})
		}
	}
}

// addDeadlock adds a deadlock unless it is known already.
func (c *collection) addDeadlock(attrs pcommon.Map, from origin) {
	d := Deadlock{
		ID:      text(attrs, "weft.deadlock.id"),
		Threads: text(attrs, "weft.deadlock.threads"),
		Since:   time.Unix(0, number(attrs, "weft.deadlock.since")).UTC(),
		Service: from.service,
		TraceID: from.trace,
	}
	if !slices.ContainsFunc(c.sum.Deadlocks, func(known Deadlock) bool { return known.ID == d.ID }) {
		c.sum.Deadlocks = append(c.sum.Deadlocks, d)
	}
}

func (c *collection) addChain(attrs pcommon.Map, at time.Time, from origin) {
	chain := Chain{
		Class:   text(attrs, "weft.lock.class"),
		Length:  number(attrs, "weft.lock.chain.length"),
		Time:    duration(attrs, "weft.lock.chain.time"),
		Threads: text(attrs, "weft.lock.chain.threads"),
		Service: from.service,
		At:      at,
		TraceID: from.trace,
	}
	if chain.Length > 0 && (c.sum.Chain == nil || longer(chain, *c.sum.Chain)) {
		c.sum.Chain = &chain
	}
}

// longer is a total order, so that the order of the input does not matter.
func longer(a, b Chain) bool {
	return cmp.Or(cmp.Compare(a.Length, b.Length), cmp.Compare(a.Time, b.Time), b.At.Compare(a.At), cmp.Compare(b.Class, a.Class)) > 0
}
