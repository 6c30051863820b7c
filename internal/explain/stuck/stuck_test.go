// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stuck_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/explain/stuck"
)

func TestFind(t *testing.T) {
	const a, b, c, d = 1, 2, 3, 4
	sure := func(thread int, by ...int) stuck.Wait { return stuck.Wait{Thread: thread, By: by, Sure: true} }
	learnt := func(thread int, by ...int) stuck.Wait { return stuck.Wait{Thread: thread, By: by} }
	all := func(thread int, by ...int) stuck.Wait {
		return stuck.Wait{Thread: thread, By: by, All: true, Sure: true}
	}
	for name, test := range map[string]struct {
		waits []stuck.Wait
		ended []int
		want  []stuck.Verdict
	}{
		"no thread is known":           {[]stuck.Wait{sure(a)}, nil, []stuck.Verdict{stuck.Free}},
		"the owner runs":               {[]stuck.Wait{sure(a, b)}, nil, []stuck.Verdict{stuck.Free}},
		"the owner has ended":          {[]stuck.Wait{sure(a, b)}, []int{b}, []stuck.Verdict{stuck.Certain}},
		"consumers have ended":         {[]stuck.Wait{learnt(a, b, c)}, []int{b, c}, []stuck.Verdict{stuck.Likely}},
		"one consumer is left":         {[]stuck.Wait{learnt(a, b, c)}, []int{b}, []stuck.Verdict{stuck.Free}},
		"cycle":                        {[]stuck.Wait{sure(a, b), sure(b, a)}, nil, []stuck.Verdict{stuck.Certain, stuck.Certain}},
		"before a cycle":               {[]stuck.Wait{sure(a, b), sure(b, a), learnt(c, a)}, nil, []stuck.Verdict{stuck.Certain, stuck.Certain, stuck.Likely}},
		"cycle through a task":         {[]stuck.Wait{sure(a, b), learnt(b, a)}, nil, []stuck.Verdict{stuck.Likely, stuck.Likely}},
		"it waits for itself":          {[]stuck.Wait{sure(a, a)}, nil, []stuck.Verdict{stuck.Certain}},
		"workers of their own pool":    {[]stuck.Wait{learnt(a, a, b, c), learnt(b, a, b, c), learnt(c, a, b, c)}, nil, []stuck.Verdict{stuck.Likely, stuck.Likely, stuck.Likely}},
		"a worker is left":             {[]stuck.Wait{learnt(a, a, b, c), learnt(b, a, b, c)}, nil, []stuck.Verdict{stuck.Free, stuck.Free}},
		"one reader has ended":         {[]stuck.Wait{all(a, b, c)}, []int{b}, []stuck.Verdict{stuck.Certain}},
		"readers run":                  {[]stuck.Wait{all(a, b, c)}, nil, []stuck.Verdict{stuck.Free}},
		"one reader waits":             {[]stuck.Wait{all(a, b, c), sure(c, d)}, nil, []stuck.Verdict{stuck.Free, stuck.Free}},
		"a reader waits for a wait":    {[]stuck.Wait{all(a, b, c), sure(c, d)}, []int{d}, []stuck.Verdict{stuck.Certain, stuck.Certain}},
		"a reader that wants to write": {[]stuck.Wait{all(a, a, b)}, nil, []stuck.Verdict{stuck.Certain}},
	} {
		t.Run(name, func(t *testing.T) {
			got := stuck.Find(test.waits, func(thread int) bool { return slices.Contains(test.ended, thread) })
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// A simulated program: threads with lists of operations on locks and events. The owner of a lock is known to it. Whoever will bring about an event is, too.
type operation struct {
	kind byte // 'l'ock, 'u'nlock, 'a'wait, 's'ignal
	what int
}

type program [][]operation

// state is where each thread is, who owns each lock, and which events have come.
type state struct {
	at     [4]int8
	owner  [3]int8 // thread + 1
	events uint8
}

func (p program) blocked(s *state, thread int) bool {
	if int(s.at[thread]) == len(p[thread]) {
		return false
	}
	switch op := p[thread][s.at[thread]]; op.kind {
	case 'l':
		return s.owner[op.what] != 0
	case 'a':
		return s.events&(1<<op.what) == 0
	}
	return false
}

// step lets a thread act that is not blocked; false: it has ended.
func (p program) step(s state, thread int) (state, bool) {
	if int(s.at[thread]) == len(p[thread]) {
		return s, false
	}
	switch op := p[thread][s.at[thread]]; op.kind {
	case 'l':
		s.owner[op.what] = int8(thread) + 1
	case 'u':
		s.owner[op.what] = 0
	case 's':
		s.events |= 1 << op.what
	}
	s.at[thread]++
	return s, true
}

// waits returns the waits of a state.
func (p program) waits(s *state) (out []stuck.Wait) {
	for thread := range p {
		if !p.blocked(s, thread) {
			continue
		}
		w, op := stuck.Wait{Thread: thread, Sure: true}, p[thread][s.at[thread]]
		if op.kind == 'l' {
			w.By = []int{int(s.owner[op.what]) - 1}
		} else {
			for other := range p {
				if slices.Contains(p[other][s.at[other]:], operation{'s', op.what}) {
					w.By = append(w.By, other)
				}
			}
			if len(w.By) == 0 {
				w.By = []int{len(p)} // a thread that has ended
			}
		}
		out = append(out, w)
	}
	return out
}

// ending returns which waits of a state some schedule ends.
func (p program) ending(from state, waits []stuck.Wait) map[int]bool {
	out, seen, todo := map[int]bool{}, map[state]bool{from: true}, []state{from}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i := range waits {
			if s.at[waits[i].Thread] > from.at[waits[i].Thread] {
				out[waits[i].Thread] = true
			}
		}
		for thread := range p {
			if p.blocked(&s, thread) {
				continue
			}
			if next, ok := p.step(s, thread); ok && !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return out
}

func randomProgram(r *rand.Rand) program {
	p := make(program, 2+r.IntN(3))
	for i := range p {
		var held []int
		for range 1 + r.IntN(6) {
			switch what := r.IntN(3); r.IntN(4) {
			case 0:
				if !slices.Contains(held, what) {
					held = append(held, what)
					p[i] = append(p[i], operation{'l', what})
				}
			case 1:
				if n := len(held); n > 0 {
					p[i] = append(p[i], operation{'u', held[n-1]})
					held = held[:n-1]
				}
			case 2:
				p[i] = append(p[i], operation{'a', what})
			default:
				p[i] = append(p[i], operation{'s', what})
			}
		}
	}
	return p
}

// Of each state that a random schedule comes through: no wait that is called stuck is ended by any schedule, and once no thread can act, all are stuck.
func TestFindAgreesWithAllSchedules(t *testing.T) {
	programs := 20_000
	if testing.Short() {
		programs = 2_000
	}
	found := 0
	for seed := range programs {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		p := randomProgram(r)
		var s state
		for {
			waits := p.waits(&s)
			verdicts := stuck.Find(waits, func(thread int) bool { return thread == len(p) || int(s.at[thread]) == len(p[thread]) })
			ends := p.ending(s, waits)
			var able []int
			for thread := range p {
				if int(s.at[thread]) < len(p[thread]) && !p.blocked(&s, thread) {
					able = append(able, thread)
				}
			}
			for i, v := range verdicts {
				if v != stuck.Free && ends[waits[i].Thread] {
					t.Fatalf("program %d: thread %d of %s is called stuck in %v, but a schedule ends its wait", seed, waits[i].Thread, p, s)
				}
				if v == stuck.Free && len(able) == 0 {
					t.Fatalf("program %d: thread %d of %s is called free in %v, although no thread can act", seed, waits[i].Thread, p, s)
				}
				if v == stuck.Certain {
					found++
				}
			}
			if len(able) == 0 {
				break
			}
			s, _ = p.step(s, able[r.IntN(len(able))])
		}
	}
	if found < programs/10 {
		t.Errorf("only %d waits of %d programs were stuck: these programs judge nothing", found, programs)
	}
}

func (p program) String() string {
	var b strings.Builder
	for i, ops := range p {
		fmt.Fprintf(&b, " %d:", i)
		for _, op := range ops {
			fmt.Fprintf(&b, " %c%d", op.kind, op.what)
		}
	}
	return b.String()
}
