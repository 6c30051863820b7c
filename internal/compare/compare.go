// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package compare answers: what do threads wait for more, and what less, than before? It compares two runs, or two parts of one, by what threads
// waited for and where, relative to the number of requests or to the time.
package compare

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Key is what waits have in common that are compared. It has names only, so that runs of different processes and versions are comparable.
type Key struct {
	Kind   string `json:"kind"`     // of the wait: lock, pool, ...
	Object string `json:"object"`   // the lock by its name in the source or by its class, the library, or empty
	Site   string `json:"function"` // the method of the application that waits; empty: not known
}

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Object, o.Object), cmp.Compare(k.Site, o.Site))
}

// Sum counts waits and adds up their time.
type Sum struct {
	Count uint64        `json:"count"`
	Time  time.Duration `json:"time"` // nanoseconds in JSON
}

// Run is what threads waited for in one run.
type Run struct {
	Length   time.Duration // of the observation
	Requests uint64        // that ended in it; 0: not known
	Waits    map[Key]Sum
}

// Add adds waits.
func (r *Run) Add(k Key, s Sum) {
	if r.Waits == nil {
		r.Waits = make(map[Key]Sum)
	}
	sum := r.Waits[k]
	sum.Count += s.Count
	sum.Time += s.Time
	r.Waits[k] = sum
}

// Unit is what times are relative to.
type Unit string

// The units.
const (
	PerSecond  Unit = "second"  // time of waits in a second of the run; several threads may wait at a time
	PerRequest Unit = "request" // time of waits for each request
)

// Verdict is how waits changed.
type Verdict string

// The verdicts.
const (
	Same   Verdict = "same"   // the difference is small, or may be chance
	Worse  Verdict = "worse"  // more time
	Better Verdict = "better" // less time
	New    Verdict = "new"    // there were none before
	Gone   Verdict = "gone"   // there are none now
)

// Change is the waits with a key in both runs.
type Change struct {
	Key

	Verdict    Verdict `json:"verdict"`
	Before     Sum     `json:"before"`
	After      Sum     `json:"after"`
	BeforeRate float64 `json:"before_rate"` // nanoseconds per unit
	AfterRate  float64 `json:"after_rate"`
}

// Difference returns by how much the rate has grown.
func (c *Change) Difference() float64 { return c.AfterRate - c.BeforeRate }

// Comparison is the changes between two runs.
type Comparison struct {
	Unit    Unit     `json:"unit"`
	Total   Change   `json:"total"`   // the sum of all; its key is empty
	Changes []Change `json:"changes"` // by the size of the difference, largest first

	units [2]float64
	least float64 // difference that counts
}

// Scale is what a time before is to be multiplied by to be compared to one after; 0: there is nothing to compare to.
func (c *Comparison) Scale() float64 {
	if c.units[0] <= 0 {
		return 0
	}
	return c.units[1] / c.units[0]
}

// Judge returns how a part of the waits changed, by the rule for the changes. Chance makes one of twenty parts different, so among many of them a
// difference must be larger.
func (c *Comparison) Judge(before, after Sum, parts int) Verdict {
	const few, ofMany = 20, 3.5
	sure := float64(deviations)
	if parts > few {
		sure = ofMany
	}
	part := change(Key{}, before, after, c.units)
	part.judge(c.units, c.least, sure)
	return part.Verdict
}

// A difference counts if it is at least a hundredth of what the threads of either run waited for in all. If there were waits in both runs, it
// must also be at least a tenth of the larger rate, and larger than what chance makes of waits that are independent of each other: twice its
// standard deviation.
const (
	leastShare  = 0.01
	leastChange = 0.1
	deviations  = 2
)

// Runs compares two runs. Times are relative to requests if these are known of both.
func Runs(before, after *Run) *Comparison {
	c := &Comparison{Unit: PerSecond, Changes: []Change{}}
	units := [2]float64{before.Length.Seconds(), after.Length.Seconds()}
	if before.Requests > 0 && after.Requests > 0 {
		c.Unit, units = PerRequest, [2]float64{float64(before.Requests), float64(after.Requests)}
	}
	for k, s := range before.Waits {
		c.Changes = append(c.Changes, change(k, s, after.Waits[k], units))
	}
	for k, s := range after.Waits {
		if _, known := before.Waits[k]; !known {
			c.Changes = append(c.Changes, change(k, Sum{}, s, units))
		}
	}
	all := [2]Sum{}
	for i := range c.Changes {
		add(&all[0], c.Changes[i].Before)
		add(&all[1], c.Changes[i].After)
	}
	c.Total = change(Key{}, all[0], all[1], units)
	c.units, c.least = units, leastShare*max(c.Total.BeforeRate, c.Total.AfterRate)
	for i := range c.Changes {
		c.Changes[i].judge(units, c.least, deviations)
	}
	c.Total.judge(units, 0, deviations)
	slices.SortFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Difference()), math.Abs(a.Difference())), a.compare(b.Key))
	})
	return c
}

func add(sum *Sum, s Sum) {
	sum.Count += s.Count
	sum.Time += s.Time
}

func change(k Key, before, after Sum, units [2]float64) Change {
	return Change{Key: k, Verdict: Same, Before: before, After: after, BeforeRate: rate(before, units[0]), AfterRate: rate(after, units[1])}
}

func rate(s Sum, units float64) float64 {
	if units <= 0 {
		return 0
	}
	return float64(s.Time) / units
}

// judge sets the verdict.
func (c *Change) judge(units [2]float64, least, sure float64) {
	d := math.Abs(c.Difference())
	switch {
	case d == 0 || d < least:
	case c.Before.Time == 0:
		c.Verdict = New
	case c.After.Time == 0:
		c.Verdict = Gone
	case d < leastChange*max(c.BeforeRate, c.AfterRate):
	case d < sure*math.Hypot(deviation(c.Before, units[0]), deviation(c.After, units[1])):
	case c.Difference() > 0:
		c.Verdict = Worse
	default:
		c.Verdict = Better
	}
}

// deviation returns the standard deviation of a rate, if waits are independent and their lengths are distributed exponentially: then the
// variance of the sum of n waits of mean length m is 2nm².
func deviation(s Sum, units float64) float64 {
	if s.Count == 0 || units <= 0 {
		return 0
	}
	return float64(s.Time) * math.Sqrt(2/float64(s.Count)) / units
}
