// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profiles

import (
	"math"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/wording"
)

// Waits reads a recording to its end and returns what threads waited for, to compare it with another one. The error lists what cannot be read.
func Waits(source replay.Source) (*compare.Run, error) {
	run := &compare.Run{}
	c := newCollector(profile.Config{
		Waiters: true, Uncontended: true, MaxSamples: maxSamples, Budget: &contention.Budget{Limit: math.MaxInt64},
	}, func(c *collector, f profile.Family, samples []profile.Sample) {
		if f != profile.OffCPU {
			return
		}
		for i := range samples {
			s := &samples[i]
			site := c.session.Engine.Waits().Site(s.Stack)
			object := wording.Object(s.Wait, c.session.Symbols.Class(s.Class), c.account.Text(s.Lock), site.Entry)
			run.Add(compare.Key{Kind: s.Wait.String(), Object: object, Site: site.Function}, compare.Sum{Count: s.Count, Time: s.Time})
		}
	})
	err := c.read(source)
	if c.start <= c.end {
		run.Length = c.end.Sub(c.start)
	}
	return run, err
}
