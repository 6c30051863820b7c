// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math/rand/v2"
	"slices"
	"time"
)

// plan is what a seed makes happen. Few kinds of faults, often, find more than all kinds at once.
type plan struct {
	gateways int   // 0: one collector does everything
	queue    int64 // bytes of spans that wait for the backend
	faults   []fault
	every    int  // a fault happens in one of so many steps
	exact    bool // the spans are those of a run without faults
	moves    bool // sessions move between gateways
	kafka    bool // between the edge and its only gateway
	shared   bool // two components share the engine
	frail    bool // some lives end while they begin
}

type fault struct {
	name  string
	exact bool // windows do not change
	do    func(w *world)
}

func newPlan(rng *rand.Rand) plan {
	p := plan{gateways: rng.IntN(4), queue: 2_000_000_000, every: 4 + rng.IntN(30), exact: true}
	p.shared, p.frail, p.kafka = rng.IntN(2) == 0, rng.IntN(2) == 0, p.gateways == 1 && rng.IntN(2) == 0
	if rng.IntN(4) == 0 {
		p.queue = 200_000
	}
	all := faults()
	for range 1 + rng.IntN(4) {
		f := all[rng.IntN(len(all))]
		p.faults = append(p.faults, f)
		p.exact = p.exact && f.exact
		p.moves = p.moves || f.name == "move"
	}
	return p
}

// downtime is how long a collector is down after it died.
func (p *plan) downtime(rng *rand.Rand) time.Duration {
	return time.Duration(50+rng.IntN(2000)) * time.Millisecond
}

// fuse returns after how many crossings a life ends that begins; 0: it goes on.
func (p *plan) fuse(rng *rand.Rand) int {
	if p.frail && rng.IntN(4) == 0 {
		return 1 + rng.IntN(20)
	}
	return 0
}

// happen makes a fault happen in some steps, and ends the last one that lasts.
func (p *plan) happen(w *world, _ int) {
	if w.rng.IntN(p.every) > 0 {
		return
	}
	f := p.faults[w.rng.IntN(len(p.faults))]
	w.note("%s", f.name)
	f.do(w)
}

// victim returns a collector of some that runs, or nil.
func (w *world) victim(of []*place) *life { return of[w.rng.IntN(len(of))].current() }

func faults() []fault {
	kill := func(w *world, of []*place) {
		if l := w.victim(of); l != nil {
			after := w.rng.IntN(30)
			w.note("kill %s after %d crossings", l.place.name, after)
			l.kill(after)
		}
	}
	pause := func(l *link, w *world) {
		l.set(true, 0)
		time.AfterFunc(time.Duration(w.rng.IntN(4000))*time.Millisecond, func() { l.set(false, 0) })
	}
	return []fault{
		{"kill", true, func(w *world) { kill(w, w.places()) }},
		{"kill a gateway", true, func(w *world) { kill(w, w.gateways) }},
		{"cut an agent", true, func(w *world) {
			w.agents[w.rng.IntN(len(w.agents))].breaks(w.rng.IntN(2)*w.rng.IntN(4000), time.Duration(w.rng.IntN(2500))*time.Millisecond)
		}},
		{"cut an agent for long", false, func(w *world) {
			w.agents[w.rng.IntN(len(w.agents))].breaks(0, time.Duration(4000+w.rng.IntN(4000))*time.Millisecond)
		}},
		{"kill a JVM", true, func(w *world) {
			if w.rng.IntN(4) == 0 {
				w.agents[w.rng.IntN(len(w.agents))].vanish()
			}
		}},
		{"cut the edge off", true, func(w *world) { pause(&w.up, w) }},
		{"cut the backend off", true, func(w *world) { pause(&w.down, w) }},
		{"lose answers of gateways", true, func(w *world) { w.up.set(false, 1+w.rng.IntN(3)) }},
		{"lose answers of the backend", true, func(w *world) { w.down.set(false, 1+w.rng.IntN(3)) }},
		{"reject spans", true, func(w *world) {
			w.backend.mu.Lock()
			defer w.backend.mu.Unlock()
			w.backend.rejects = 1
		}},
		{"stop", false, func(w *world) {
			if l := w.victim(w.places()); l != nil && !l.isDead() {
				w.note("stop %s", l.place.name)
				l.place.stop(w.plan.downtime(w.rng))
			}
		}},
		{"move", false, func(w *world) {
			if time.Since(w.moved) < 7*time.Second { // if a session comes back within reorder_timeout, what others got counts as missed
				return
			}
			w.moved = time.Now()
			routes := w.rng.Perm(len(w.gateways))[:1+w.rng.IntN(len(w.gateways))]
			slices.Sort(routes)
			w.note("the edge knows the gateways %v", routes)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.routes = routes
		}},
	}
}
