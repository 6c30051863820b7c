// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// addAggregate adds up what an agent in aggregated mode counted in some seconds. It says nothing of threads, owners and handoffs.
func (c *collection) addAggregate(a *jvmthread.Aggregate, sym *symbols.Table, session *recording.Session) {
	c.sum.Aggregates++
	c.sessions[fmt.Sprintf("%x", session.ID)] = struct{}{}
	for _, attribute := range session.Attributes {
		if attribute.Key == "service.name" {
			c.services[attribute.Value] = struct{}{}
		}
	}
	if from := time.Unix(0, int64(a.From)).UTC(); c.sum.Start.IsZero() || from.Before(c.sum.Start) {
		c.sum.Start = from
	}
	if to := time.Unix(0, int64(a.To)).UTC(); to.After(c.sum.End) {
		c.sum.End = to
	}
	for i := range a.Series {
		s := &a.Series[i]
		count, sum := int64(s.Count()), time.Duration(s.Sum)
		c.addTime(s.Kind.State(), count, sum)
		class := sym.Class(s.Class)
		if s.Overflow {
			class = otherLocks
		}
		switch s.Kind.State() {
		case jvmthread.StateBlocked:
			c.lock(class).add(Lock{Contentions: count, Blocked: sum, BlockedMax: time.Duration(s.Max)})
		case jvmthread.StateWaiting:
			c.lock(class).add(Lock{Waits: count, Waited: sum})
		}
	}
}

func (c *collection) addTime(state jvmthread.State, count int64, sum time.Duration) {
	for i := range c.states {
		if c.states[i].Name == state.String() {
			c.states[i].Count += count
			c.states[i].Time += sum
		}
	}
}
