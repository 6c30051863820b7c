// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// moment is how long a state lasts that only one dump shows: the shortest time that there is.
const moment jvmthread.Time = 1

// state is what a thread does in a dump. It continues in the next dump if it is equal there.
type state struct {
	is    condition
	stack jvmthread.StackID
	lock  jvmthread.LockID
	owner jvmthread.ThreadID
}

// known is a thread of a history.
type known struct {
	id      jvmthread.ThreadID
	last    int // the last dump that has it
	virtual bool
	state   state // in the last dump; zero: not known
}

// player turns the dumps of one JVM into events.
type player struct {
	*decoder

	objects objects
	threads map[key]*known
	order   []*known // as they appear
	ids     recording.Threads
	byName  map[string]jvmthread.ThreadID // of the current dump
	owners  map[jvmthread.LockID]jvmthread.ThreadID
	inits   map[string]jvmthread.ThreadID // by class: who initializes it
	events  []jvmthread.Event
	defined []jvmthread.Thread
}

// play passes on the events of a history.
func (p *player) play(h *history, times []jvmthread.Time) {
	p.threads = make(map[key]*known)
	lasts := lastSeen(h)
	var before map[key]*thread
	for i, d := range h.dumps {
		p.objects.next()
		p.objects.relate(before, d.threads)
		p.meet(d, lasts)
		last := times[max(i-1, 0)]
		states := p.states(d)
		p.leave(i, d, states, last, times[i])
		for j := range d.threads {
			p.show(&d.threads[j], states[j], times[i])
		}
		p.Batch(&recording.Batch{Threads: p.defined, Events: p.events, Watermark: times[i]})
		p.events, p.defined = p.events[:0], p.defined[:0]
		before = make(map[key]*thread, len(d.threads))
		for j := range d.threads {
			before[d.threads[j].key()] = &d.threads[j]
		}
	}
	p.End(recording.End{Time: times[len(times)-1] + moment, Reason: "detached"})
}

// lastSeen returns the last dump that has each thread.
func lastSeen(h *history) map[key]int {
	lasts := make(map[key]int)
	for i, d := range h.dumps {
		for j := range d.threads {
			lasts[d.threads[j].key()] = i
		}
	}
	return lasts
}

// meet finds the threads of a dump among those of the dumps before.
func (p *player) meet(d *dump, lasts map[key]int) {
	p.byName, p.owners, p.inits = make(map[string]jvmthread.ThreadID), make(map[jvmthread.LockID]jvmthread.ThreadID), make(map[string]jvmthread.ThreadID)
	for i := range d.threads {
		t := &d.threads[i]
		k := p.threads[t.key()]
		if k == nil {
			k = &known{id: jvmthread.ThreadID(t.id), virtual: t.virtual, last: lasts[t.key()]}
			if t.id == 0 {
				k.id = p.ids.New().ID
			}
			p.threads[t.key()] = k
			p.order = append(p.order, k)
			p.defined = append(p.defined, jvmthread.Thread{ID: k.id, Name: t.name, Daemon: t.daemon, Virtual: t.virtual})
		}
		p.byName[t.name] = k.id
	}
	for i := range d.threads {
		p.own(&d.threads[i], d)
	}
	for i := range d.threads {
		p.initSuperclass(d.threads[i].awaited, d)
	}
}

// initSuperclass finds who initializes a class although no stack shows it: before that, the JVM initializes the superclass, which this thread waits
// for. No thread is found if another thread could be the one.
func (p *player) initSuperclass(class string, d *dump) {
	if _, found := p.inits[class]; found || class == "" {
		return
	}
	var only *thread
	for i := range d.threads {
		switch t := &d.threads[i]; {
		case t.awaited == class || t.awaited == "" && len(t.inits) == 0:
		case only != nil || t.awaited == "":
			return
		default:
			only = t
		}
	}
	if only != nil {
		p.inits[class] = p.threads[only.key()].id
	}
}

// own records what a thread owns, and what others are stated to own that it waits for.
func (p *player) own(t *thread, d *dump) {
	id := p.threads[t.key()].id
	for _, o := range t.holds {
		if !t.isFree(o) {
			p.owners[p.objects.lock(o)] = id
		}
	}
	for _, class := range t.inits {
		p.inits[class] = id
	}
	by := t.owner
	if by == (owner{}) {
		by.name = d.owners[t.awaits.address]
	}
	lock := p.objects.lock(t.awaits)
	if _, found := p.owners[lock]; found || lock.Hash == 0 {
		return
	}
	if k := p.threads[key{id: by.id}]; k != nil && by.id != 0 {
		p.owners[lock] = k.id
	} else if id, ok := p.byName[by.name]; ok && by.name != "" {
		p.owners[lock] = id
	}
}

// states returns what the threads of a dump do.
func (p *player) states(d *dump) []state {
	list := make([]state, len(d.threads))
	for i := range d.threads {
		t := &d.threads[i]
		s := &list[i]
		s.is, s.stack = t.is, t.stack
		me := p.threads[t.key()].id
		switch {
		case t.awaited != "":
			s.lock = jvmthread.LockID{Class: p.Options.Symbols.InternClass(t.awaited + initializer), Hash: 1}
			s.owner = p.inits[t.awaited]
		case t.is == conditionRuns || t.is == conditionSleeps || t.is == conditionCalls:
		default:
			s.lock = p.objects.lock(t.awaits)
			s.owner = p.owners[s.lock]
		}
		if s.owner == me || t.is != conditionBlocked && t.is != conditionParked {
			s.owner = jvmthread.NoThread
		}
	}
	return list
}

// leave ends the states that a dump does not show any more: they lasted until the dump before, and what came then is not known.
func (p *player) leave(n int, d *dump, states []state, last, now jvmthread.Time) {
	still := make(map[*known]state, len(states))
	for i := range d.threads {
		still[p.threads[d.threads[i].key()]] = states[i]
	}
	var ended []jvmthread.Event
	for _, k := range p.order {
		if k.state == (state{}) {
			continue
		}
		if is, ok := still[k]; ok && is == k.state {
			continue
		}
		k.state = state{}
		p.add(k, jvmthread.Event{Kind: jvmthread.KindGap, Time: last + moment})
		if d.whole && k.last < n {
			ended = append(ended, jvmthread.Event{Kind: jvmthread.KindThreadEnd, Time: now, Thread: k.id})
		}
	}
	p.events = append(p.events, ended...)
}

func (p *player) add(k *known, ev jvmthread.Event) {
	ev.Thread = k.id
	if k.virtual && ev.Kind != jvmthread.KindGap {
		ev.Flags |= jvmthread.FlagVirtual
	}
	p.events = append(p.events, ev)
}

// kinds are the events that begin what threads do.
var kinds = [...]jvmthread.Kind{
	conditionRuns: jvmthread.KindThreadStart, conditionCalls: jvmthread.KindPark, conditionBlocked: jvmthread.KindContendedEnter, conditionWaits: jvmthread.KindWait,
	conditionJoins: jvmthread.KindJoinStart, conditionParked: jvmthread.KindPark, conditionSleeps: jvmthread.KindSleepStart,
}

// show adds the events of a thread in a dump.
func (p *player) show(t *thread, s state, at jvmthread.Time) {
	k := p.threads[t.key()]
	if s.is == conditionUnknown {
		return
	}
	if k.state != s {
		k.state = s
		ev := jvmthread.Event{Kind: kinds[s.is], Time: at, Flags: jvmthread.FlagSnapshot}
		if s.is != conditionRuns {
			ev.Lock, ev.Peer, ev.Stack = s.lock, s.owner, s.stack
		}
		p.add(k, ev)
		if s.is == conditionRuns && s.stack != jvmthread.NoStack {
			p.add(k, jvmthread.Event{Kind: jvmthread.KindRunning, Time: at, Stack: s.stack})
		}
	}
	if t.cpu > 0 {
		p.add(k, jvmthread.Event{Kind: jvmthread.KindCPU, Time: at, Arg: int64(t.cpu)})
	}
}
