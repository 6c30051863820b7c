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

// Requests adds requests that have ended.
func (a *Account) Requests(ended []requests.End) {
	for i := range ended {
		e := &ended[i]
		for kind, sum := range e.Waits {
			if sum.Count == 0 {
				continue
			}
			h := durationsOf(a, &a.requests, RequestKey{e.Name, jvmthread.Wait(kind)})
			h.add(sum.Time, a.cfg)
			if a.cfg.Exemplars > 0 && !e.Span.IsZero() && h.wants(sum.Time, a.cfg.Exemplars) {
				h.keep(Exemplar{Duration: sum.Time, At: e.End, Request: e.Span}, a.cfg.Exemplars)
			}
		}
	}
}
