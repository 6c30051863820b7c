// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// search finds text in names of threads, classes and methods, and in ids.
func (q *query) search() (any, *Problem) {
	words := q.text("q")
	limit := int(q.number("limit", 50, 1, 200))
	if strings.TrimSpace(words) == "" {
		q.fail("q", "required: the text to search for")
	}
	if p := q.done(); p != nil {
		return nil, p
	}
	f := finder{q: q, words: strings.ToLower(strings.TrimSpace(words))}
	hits, more := f.threads(limit)
	hits = append(hits, f.inRange()...)
	return viewapi.Found{Query: words, Hits: hits[:min(len(hits), limit)], More: more || len(hits) > limit}, nil
}

type finder struct {
	q     *query
	words string
}

func (f *finder) fits(text string) bool { return strings.Contains(strings.ToLower(text), f.words) }

// threads finds threads of the session, by id: at most some, platform threads first.
func (f *finder) threads(most int) (hits []viewapi.Hit, more bool) {
	sn := f.q.sn
	hits = []viewapi.Hit{}
	var found []int
	for i := range sn.Threads {
		t := &sn.Threads[i]
		if t.Known && (f.fits(t.Name) || f.fits(t.Group) || strconv.FormatUint(uint64(t.ID), 10) == f.words) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int {
		x, y := &sn.Threads[a], &sn.Threads[b]
		if x.Virtual != y.Virtual {
			if y.Virtual {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.ID, y.ID)
	})
	for _, i := range found[:min(len(found), most)] {
		ref := f.q.threadRef(i)
		h := viewapi.Hit{Kind: "thread", Text: ref.Name, Thread: &ref}
		c := sn.Walk(i, f.q.from, f.q.to)
		if c.Next() {
			iv := c.Interval()
			h.First = f.q.reference(&iv)
		}
		hits = append(hits, h)
	}
	return hits, len(found) > most
}

// occurrence is the first interval with a lock or stack.
type occurrence struct {
	wanted, found bool
	at            store.Interval
}

func (o *occurrence) see(c *store.Cursor) {
	if o.wanted && (!o.found || c.Start < o.at.Start || c.Start == o.at.Start && c.Thread() < o.at.Thread) {
		o.found, o.at = true, c.Interval()
	}
}

// wanted returns, by number, the locks and stacks that match.
func (f *finder) wanted() (locks, stacks []occurrence, some bool) {
	sn := f.q.sn
	locks, stacks = make([]occurrence, len(sn.Locks)), make([]occurrence, len(sn.Stacks))
	class, _, _ := strings.Cut(f.words, "@")
	for l := range locks[1:] {
		id := store.LockIndex(l + 1)
		hash := strconv.FormatUint(uint64(sn.Locks[id].Hash), 16)
		locks[id].wanted = hash == f.words || strings.Contains(strings.ToLower(sn.Class(id)), class)
		some = some || locks[id].wanted
	}
	for s := range stacks[1:] {
		stacks[s+1].wanted = f.fits(symbols.Text(sn.Stacks[s+1]))
		some = some || stacks[s+1].wanted
	}
	return locks, stacks, some
}

// inRange finds classes, locks and methods in the range, each with its first occurrence.
func (f *finder) inRange() []viewapi.Hit {
	sn := f.q.sn
	locks, stacks, some := f.wanted()
	if !some {
		return nil
	}
	all := slices.Repeat([]bool{true}, len(sn.Threads))
	sn.Sweep(f.q.from, f.q.to, all, func(c *store.Cursor) {
		if c.State.Stopped() {
			locks[c.Lock()].see(c)
			stacks[c.Stack()].see(c)
		}
	})
	type name struct{ kind, text string }
	first := map[name]viewapi.Hit{}
	add := func(h viewapi.Hit) {
		k := name{h.Kind, h.Text}
		if old, ok := first[k]; !ok || h.First.Time < old.First.Time {
			first[k] = h
		}
	}
	for l := range locks {
		if !locks[l].found {
			continue
		}
		ref, at := f.q.lockRef(store.LockIndex(l)), f.q.reference(&locks[l].at)
		id := ref.Class + "@" + ref.Hash
		if ref.Hash == f.words || f.fits(id) && strings.Contains(f.words, "@") {
			add(viewapi.Hit{Kind: "lock", Text: id, Lock: &ref, First: at})
		}
		if f.fits(ref.Class) {
			add(viewapi.Hit{Kind: "class", Text: ref.Class, Lock: &ref, First: at})
		}
	}
	for s := range stacks {
		if !stacks[s].found {
			continue
		}
		at := f.q.reference(&stacks[s].at)
		for line := range strings.Lines(symbols.Text(sn.Stacks[s])) {
			if frame, ok := symbols.ParseFrame(strings.TrimSpace(line)); ok && f.fits(frame.Function()) {
				add(viewapi.Hit{Kind: "method", Text: frame.Function(), Stack: uint32(s), First: at})
			}
		}
	}
	return slices.SortedFunc(maps.Values(first), func(a, b viewapi.Hit) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text)) })
}
