// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"cmp"

	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// RequestKey contains the dimensions of what requests lose.
type RequestKey struct {
	Name jvmthread.ClassID // of the requests
	Kind jvmthread.Wait
}

func (k RequestKey) compare(o RequestKey) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Name, o.Name))
}

func (k RequestKey) reduce() RequestKey { return RequestKey{Kind: k.Kind} }

// Requests is how long requests waited, each for the sum of its waits of the kind.
type Requests struct {
	Waited *Histogram
}

func (r *Requests) next(delta bool) (restarted bool) {
	restarted = delta || r.Waited.large()
	r.Waited.flushed(restarted)
	return restarted
}

// Requests adds requests that have ended.
func (a *Account) Requests(ended []requests.End) {
	for i := range ended {
		e := &ended[i]
		for kind, sum := range e.Waits {
			if sum.Count == 0 {
				continue
			}
			s := a.requests.get(RequestKey{e.Name, jvmthread.Wait(kind)})
			h := a.histogram(&s.Value.Waited, &s.cost, s.Overflow)
			if h == nil {
				h = a.histogram(&a.requests.spill(s.Key).Value.Waited, nil, true)
			}
			h.add(sum.Time, a.cfg)
			if a.cfg.Exemplars > 0 && !e.Span.IsZero() && h.wants(sum.Time, a.cfg.Exemplars) {
				h.keep(Exemplar{Duration: sum.Time, At: e.End, Request: e.Span}, a.cfg.Exemplars)
			}
		}
	}
}
