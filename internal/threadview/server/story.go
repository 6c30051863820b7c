// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// story is a critical path as sayings. A path may have a million segments, so a saying has a number, and its words are made once.
type story struct {
	q     *query
	path  *criticalpath.Path
	holds []jvmthread.Hold // of the range, by lock and start

	sayings []saying
	numbers map[saying]int32
	chains  []chain // the first one is none
	chainOf map[chain]int32
	waits   []int32 // by index of the path's waits: the chain that ends with it; 0: not made yet
	roots   []int32 // by index of the path's waits: the wait of the path's own thread that led to it
	words   map[words]string

	passages []passage
}

// saying is what a thread did, and the waits through which that is on the path.
type saying struct {
	chain  int32
	thread jvmthread.ThreadID
	kind   criticalpath.Kind
	doing  string
}

// chain is a wait, and those that lead to it.
type chain struct {
	parent int32
	depth  int32
	thread jvmthread.ThreadID
	wait   jvmthread.Wait
	title  string
}

// passage is segments that say the same.
type passage struct {
	from, to, time, longest jvmthread.Time
	saying                  int32
	segment                 int32 // index of the longest
	count                   int32
}

func (p *passage) add(o *passage) {
	if o.longest > p.longest {
		p.longest, p.segment = o.longest, o.segment
	}
	p.from, p.to = min(p.from, o.from), max(p.to, o.to)
	p.time += o.time
	p.count += o.count
}

// story puts a path into words.
func (q *query) story(path *criticalpath.Path, holds []jvmthread.Hold) *story {
	s := &story{
		q: q, path: path, holds: holds, numbers: map[saying]int32{}, words: map[words]string{},
		chains: make([]chain, 1), chainOf: map[chain]int32{},
		waits: make([]int32, len(path.Waits)), roots: make([]int32, len(path.Waits)),
	}
	for i := range path.Waits {
		s.roots[i] = int32(i)
		if p := path.Waits[i].Parent; p >= 0 {
			s.roots[i] = s.roots[p]
		}
	}
	// What is said within one wait of the thread is said once. Of what it did itself, only neighbors are joined.
	said, root := map[int32]int{}, criticalpath.NoWait
	for i := range path.Segments {
		seg := &path.Segments[i]
		of := criticalpath.NoWait
		if seg.Via >= 0 {
			of = s.roots[seg.Via]
		}
		for piece := range q.pieces(seg) {
			length := piece.End - piece.Start
			p := passage{
				from: piece.Start, to: piece.End, time: length, longest: length, saying: s.number(seg, &piece), segment: int32(i), count: 1,
			}
			if n := len(s.passages); n > 0 && s.passages[n-1].saying == p.saying {
				s.passages[n-1].add(&p)
				continue
			}
			if of != root || of < 0 {
				clear(said)
				root = of
			}
			if at, ok := said[p.saying]; ok && of >= 0 {
				s.passages[at].add(&p)
				continue
			}
			said[p.saying] = len(s.passages)
			s.passages = append(s.passages, p)
		}
	}
	return s
}

// summed returns passages that say the same as one, the longest first.
func (s *story) summed() []passage {
	sums := make([]passage, len(s.sayings))
	for i := range s.passages {
		p := &s.passages[i]
		if sum := &sums[p.saying]; sum.count > 0 {
			sum.add(p)
		} else {
			*sum = *p
		}
	}
	slices.SortFunc(sums, func(a, b passage) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.from, b.from)) })
	return sums
}

// own reports whether a wait is a segment itself, and does not lead to it.
func own(seg *criticalpath.Segment, w *criticalpath.Wait) bool {
	return w.Ref.Thread == seg.Thread && w.Ref.Seq == seg.Seq
}

// number returns the number of what is said of a piece of a segment.
func (s *story) number(seg *criticalpath.Segment, piece *window.Piece) int32 {
	v := saying{thread: s.woken(seg), kind: seg.Kind, doing: s.doing(seg, piece)}
	if via := s.leads(seg); via >= 0 {
		v.chain = s.chain(via, seg.Start)
	}
	n, ok := s.numbers[v]
	if !ok {
		n = int32(len(s.sayings))
		s.numbers[v] = n
		s.sayings = append(s.sayings, v)
	}
	return n
}

// leads returns the index of the innermost wait that leads to a segment, or NoWait. It is the own wait of the segment if another thread was
// woken meanwhile.
func (s *story) leads(seg *criticalpath.Segment) int32 {
	if seg.Via >= 0 && own(seg, &s.path.Waits[seg.Via]) && s.woken(seg) == seg.Thread {
		return s.path.Waits[seg.Via].Parent
	}
	return seg.Via
}

// woken returns the thread of a segment. A path has the time between the release of a lock and the wake-up of its next owner on the thread
// that waits for this owner, but it is the owner that was woken.
func (s *story) woken(seg *criticalpath.Segment) jvmthread.ThreadID {
	if seg.Kind != criticalpath.KindWakeLatency || seg.Via < 0 {
		return seg.Thread
	}
	lock := s.path.Waits[seg.Via].Lock
	if lock.IsZero() {
		return seg.Thread
	}
	at, _ := slices.BinarySearchFunc(s.holds, jvmthread.Hold{Lock: lock, Start: seg.End}, compareHolds)
	next := seg.Thread
	for ; at < len(s.holds) && s.holds[at].Lock == lock && s.holds[at].Start == seg.End; at++ {
		if s.holds[at].Thread == seg.Thread {
			return seg.Thread
		}
		next = s.holds[at].Thread
	}
	return next
}

// chain returns the number of a wait with those that lead to it, given a time within it.
func (s *story) chain(via int32, at jvmthread.Time) int32 {
	if s.waits[via] != 0 {
		return s.waits[via]
	}
	w := &s.path.Waits[via]
	c := chain{thread: w.Ref.Thread, wait: w.Kind, depth: 1}
	if w.Parent >= 0 {
		c.parent = s.chain(w.Parent, at)
		c.depth = s.chains[c.parent].depth + 1
	}
	c.title = s.say(words{class: w.Lock.Class, stack: w.Stack, state: w.State, wait: w.Kind}, w.Ref, at)
	n, ok := s.chainOf[c]
	if !ok {
		n = int32(len(s.chains))
		s.chainOf[c] = n
		s.chains = append(s.chains, c)
	}
	s.waits[via] = n
	return n
}
