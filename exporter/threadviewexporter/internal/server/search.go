// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
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
	out := api.Found{Query: words, Hits: []api.Hit{}}
	f := finder{q: q, words: strings.ToLower(strings.TrimSpace(words)), out: &out, limit: limit}
	f.threads()
	f.rest()
	return out, nil
}

type finder struct {
	q     *query
	words string
	out   *api.Found
	limit int
}

func (f *finder) fits(text string) bool { return strings.Contains(strings.ToLower(text), f.words) }

// add adds a hit if there is room.
func (f *finder) add(h api.Hit) bool {
	if len(f.out.Hits) >= f.limit {
		f.out.More = true
		return false
	}
	f.out.Hits = append(f.out.Hits, h)
	return true
}

func (f *finder) threads() {
	sn := f.q.sn
	var hits []api.Hit
	for i := range sn.Threads {
		t := &sn.Threads[i]
		if !t.Known || !f.fits(t.Name) && !f.fits(t.Group) && strconv.FormatUint(uint64(t.ID), 10) != f.words {
			continue
		}
		ref := f.q.threadRef(i)
		h := api.Hit{Kind: "thread", Text: ref.Name, Thread: &ref}
		c := sn.Walk(i, f.q.from, f.q.to)
		if c.Next() {
			iv := c.Interval()
			r := f.q.reference(&iv)
			h.First = &r
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b api.Hit) int { return compare(a.Thread.ID, b.Thread.ID) })
	for _, h := range hits {
		if !f.add(h) {
			return
		}
	}
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
	locks, stacks = make([]occurrence, sn.NumLocks()), make([]occurrence, sn.NumStacks())
	class, _, _ := strings.Cut(f.words, "@")
	for l := range locks[1:] {
		id := store.LockIndex(l + 1)
		hash := strconv.FormatUint(uint64(sn.Hash(id)), 16)
		locks[id].wanted = hash == f.words || strings.Contains(strings.ToLower(sn.Class(id)), class)
		some = some || locks[id].wanted
	}
	for s := range stacks[1:] {
		stacks[s+1].wanted = f.fits(sn.Stack(store.StackID(s + 1)))
		some = some || stacks[s+1].wanted
	}
	return locks, stacks, some
}

// rest finds classes, locks and methods in the range, each with its first occurrence.
func (f *finder) rest() {
	sn := f.q.sn
	locks, stacks, some := f.wanted()
	if some {
		all := slices.Repeat([]bool{true}, len(sn.Threads))
		sn.Sweep(f.q.from, f.q.to, all, func(c *store.Cursor) {
			if c.State.Stopped() {
				locks[c.Lock()].see(c)
				stacks[c.Stack()].see(c)
			}
		})
	}
	classes := map[string]api.Hit{}
	var hits []api.Hit
	for l := range locks {
		if !locks[l].found {
			continue
		}
		ref, first := f.q.lockRef(store.LockIndex(l)), f.q.reference(&locks[l].at)
		if ref.Hash == f.words || f.fits(ref.Class+"@"+ref.Hash) && strings.Contains(f.words, "@") {
			hits = append(hits, api.Hit{Kind: "lock", Text: ref.Class + "@" + ref.Hash, Lock: &ref, First: &first})
		}
		if old, ok := classes[ref.Class]; f.fits(ref.Class) && (!ok || first.Time < old.First.Time) {
			classes[ref.Class] = api.Hit{Kind: "class", Text: ref.Class, Lock: &ref, First: &first}
		}
	}
	methods := map[string]api.Hit{}
	for s := range stacks {
		if !stacks[s].found {
			continue
		}
		first := f.q.reference(&stacks[s].at)
		for line := range strings.Lines(sn.Stack(store.StackID(s))) {
			frame, ok := symbols.ParseFrame(strings.TrimSpace(line))
			if !ok {
				continue
			}
			name := frame.Function()
			if old, had := methods[name]; f.fits(name) && (!had || first.Time < old.First.Time) {
				methods[name] = api.Hit{Kind: "method", Text: name, Stack: uint32(s), First: &first}
			}
		}
	}
	for _, m := range []map[string]api.Hit{classes, methods} {
		for _, h := range m {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b api.Hit) int {
		if c := compare(a.Kind, b.Kind); c != 0 {
			return c
		}
		return compare(a.Text, b.Text)
	})
	for _, h := range hits {
		if !f.add(h) {
			return
		}
	}
}
