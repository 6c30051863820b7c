// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Aggregates adds up what agents in aggregated mode counted. The page does not have it, since it is of no thread and no time.
type Aggregates struct{ sessions []*aggregated }

// aggregated is the sums of a session.
type aggregated struct {
	id, service string
	from, to    jvmthread.Time
	costs       map[string]*viewapi.CostRow
	kinds       map[jvmthread.Wait]*kindSum
	objects     map[string]*viewapi.ClassRow
}

type kindSum struct {
	viewapi.KindRow

	sites map[viewapi.Site]int64
}

// otherLocks is the row of those for which the agent had no more memory.
const otherLocks = "(other locks)"

// Add adds the sums of some seconds.
func (a *Aggregates) Add(s *replay.Session, sums *jvmthread.Aggregate) {
	id := s.ID.String()
	i := slices.IndexFunc(a.sessions, func(g *aggregated) bool { return g.id == id })
	if i < 0 {
		g := &aggregated{id: id, from: sums.From, costs: map[string]*viewapi.CostRow{}, kinds: map[jvmthread.Wait]*kindSum{}, objects: map[string]*viewapi.ClassRow{}}
		for _, attribute := range s.Attributes {
			if attribute.Key == "service.name" {
				g.service = attribute.Value
			}
		}
		i, a.sessions = len(a.sessions), append(a.sessions, g)
	}
	g := a.sessions[i]
	g.from, g.to = min(g.from, sums.From), max(g.to, sums.To)
	for j := range sums.Series {
		g.add(s, &sums.Series[j])
	}
}

func (g *aggregated) add(session *replay.Session, s *jvmthread.Series) {
	class := session.Symbols.Class(s.Class)
	if s.Overflow {
		class = otherLocks
	}
	iv := jvmthread.Interval{State: s.Kind.State(), Lock: jvmthread.LockID{Class: s.Class}, Stack: s.Stack}
	waits := session.Engine.Waits()
	kind, count, time := waits.Wait(&iv), int64(s.Count()), s.Sum
	k := g.kinds[kind]
	if k == nil {
		k = &kindSum{KindRow: viewapi.KindRow{Wait: kind.String(), Idle: kind.Idle()}, sites: map[viewapi.Site]int64{}}
		g.kinds[kind] = k
	}
	k.Stats.Count, k.Stats.Time = k.Stats.Count+count, k.Stats.Time+time
	if site := waits.Site(s.Stack); site.Function != "" {
		k.sites[viewapi.Site{Function: site.Function, Entry: site.Entry}] += time
	}
	switch {
	case kind.Contended():
		c := g.costs[class]
		if c == nil {
			c = &viewapi.CostRow{Class: class, Kind: kind.String()}
			g.costs[class] = c
		}
		c.Count, c.Time, c.Longest = c.Count+count, c.Time+time, max(c.Longest, s.Max)
	case iv.State == jvmthread.StateWaiting:
		c := g.objects[class]
		if c == nil {
			c = &viewapi.ClassRow{Class: class}
			g.objects[class] = c
		}
		c.Waited.Count, c.Waited.Time = c.Waited.Count+count, c.Waited.Time+time
	}
}

// AddAggregates adds sessions of agents in aggregated mode. One that reported threads, too, has two parts.
func (s *Summary) AddAggregates(a *Aggregates) {
	for _, g := range a.sessions {
		s.Sessions = slices.DeleteFunc(s.Sessions, func(of Session) bool { return of.Session.ID == g.id && of.Session.From >= of.Session.To })
		s.Sessions = append(s.Sessions, g.session())
	}
	s.sort()
}

func (g *aggregated) session() Session {
	s := Session{Aggregated: true, Session: viewapi.Session{ID: g.id, Service: g.service}}
	s.Answer.To = int64(g.to - g.from)
	for _, c := range g.costs {
		s.Answer.Costs = append(s.Answer.Costs, *c)
		s.Answer.Time += c.Time
	}
	s.Answer.Total = len(s.Answer.Costs)
	slices.SortFunc(s.Answer.Costs, func(a, b viewapi.CostRow) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Class, b.Class))
	})
	for _, k := range g.kinds {
		var most int64
		for site, time := range k.sites {
			if k.Site == nil || time > most || time == most && site.Function < k.Site.Function {
				k.Site, most = &site, time
			}
		}
		s.Kinds.Kinds = append(s.Kinds.Kinds, k.KindRow)
	}
	slices.SortFunc(s.Kinds.Kinds, func(a, b viewapi.KindRow) int { return cmp.Compare(a.Wait, b.Wait) })
	for _, c := range g.objects {
		s.Objects.Classes = append(s.Objects.Classes, *c)
	}
	slices.SortFunc(s.Objects.Classes, func(a, b viewapi.ClassRow) int {
		return cmp.Or(cmp.Compare(b.Waited.Time, a.Waited.Time), cmp.Compare(a.Class, b.Class))
	})
	return s
}
