// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/wording"
)

const maxLockNames = 5 // of one class

// place is a stack at which threads waited for locks of a class.
type place struct {
	class uint32
	stack store.StackID
	wait  jvmthread.Wait
}

// stackWaits is the sums of waits by place.
type stackWaits map[place]*waits

func (s stackWaits) of(at place) *waits {
	t := s[at]
	if t == nil {
		t = &waits{}
		s[at] = t
	}
	return t
}

// nameAt returns the name of the lock of a class for which threads wait at a stack, as the source has it, or the name of the pool, or that the
// lock is the JVM's for the initialization of a class; empty if there is none.
func (q *query) nameAt(w jvmthread.Wait, class string, stack store.StackID) string {
	site := q.sn.Site(stack)
	name := wording.Object(w, class, site.Lock, site.Entry)
	if wording.IsInitialization(name) || w == jvmthread.WaitPool && site.Entry != "" {
		return name
	}
	return site.Lock
}

// names is what contended waits for locks of a class were for, with their time.
type names struct {
	kinds [jvmthread.NumWaits]int64
	texts map[string]int64
}

// namesOf returns the kinds and names of contended waits by class.
func (q *query) namesOf(stacks stackWaits) map[uint32]*names {
	all := map[uint32]*names{}
	for at, t := range stacks {
		if t.longest.Seq == 0 {
			continue // outside the range
		}
		n := all[at.class]
		if n == nil {
			n = &names{texts: map[string]int64{}}
			all[at.class] = n
		}
		n.kinds[at.wait] += t.Time
		if text := q.nameAt(at.wait, q.sn.Classes[at.class], at.stack); text != "" {
			n.texts[text] += t.Time
		}
	}
	return all
}

// kind returns the contended kind with the most time, or an empty string.
func (n *names) kind() string {
	best := jvmthread.WaitNone
	if n != nil {
		for w, time := range n.kinds {
			if w := jvmthread.Wait(w); w.Contended() && (best == jvmthread.WaitNone || time > n.kinds[best]) && time > 0 {
				best = w
			}
		}
	}
	return best.String()
}

// most returns the names with the most time.
func (n *names) most() []string {
	out := []string{}
	if n != nil {
		for text := range n.texts {
			out = append(out, text)
		}
		slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(n.texts[b], n.texts[a]), cmp.Compare(a, b)) })
	}
	return out[:min(len(out), maxLockNames)]
}
