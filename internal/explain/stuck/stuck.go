// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package stuck answers: which waits can no thread end any more?
//
// Each wait has threads that could end it: the owner of a lock, the workers of an executor, the consumers of a queue. A wait is stuck if each of them has
// ended or is stuck itself. One rule finds deadlocks, pools whose workers wait for their own queue, and queues without consumers.
package stuck

// Wait is that of a thread which does not end by itself.
type Wait struct {
	Thread int
	By     []int // threads that could end it; none: not known, so that it is not stuck
	All    bool  // all of them have to act, as readers before a writer; else one is enough
	Sure   bool  // By is complete by what the JVM knows; else it is learnt from what happened before
}

// Verdict is what is known about a wait.
type Verdict uint8

// The verdicts.
const (
	Free    Verdict = iota // another thread may end it
	Likely                 // none of the threads that are known to end such waits can
	Certain                // none can, by what the JVM knows
)

// Find returns the verdict on each of some waits, at most one for each thread. Ended reports whether a thread has ended. It takes time linear in the number
// of waits and of threads that could end them.
func Find(waits []Wait, ended func(thread int) bool) []Verdict {
	out := make([]Verdict, len(waits))
	for _, level := range []Verdict{Likely, Certain} {
		for i, free := range able(waits, ended, level == Certain) {
			if !free {
				out[i] = level
			}
		}
	}
	return out
}

// able reports of each wait whether another thread may end it: the least fixed point. If only what is sure counts, other waits may always end.
func able(waits []Wait, ended func(thread int) bool, sure bool) []bool {
	free := make([]bool, len(waits))
	of := make(map[int]int, len(waits)) // by thread
	for i := range waits {
		of[waits[i].Thread] = i
	}
	missing := make([]int, len(waits)) // threads that still have to be able to act
	ends := make([][]int, len(waits))  // waits that the thread of a wait could end
	var queue []int
	release := func(i int) {
		if missing[i]--; missing[i] <= 0 && !free[i] {
			free[i] = true
			queue = append(queue, i)
		}
	}
	for i := range waits {
		w := &waits[i]
		missing[i] = 1
		if w.All && len(w.By) > 0 {
			missing[i] = len(w.By)
		}
		if len(w.By) == 0 || sure && !w.Sure {
			missing[i] = 1
			release(i)
			continue
		}
		for _, thread := range w.By {
			if free[i] {
				break
			}
			switch by, waiting := of[thread]; {
			case ended(thread):
			case waiting:
				ends[by] = append(ends[by], i)
			default:
				release(i)
			}
		}
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, other := range ends[i] {
			release(other)
		}
	}
	return free
}
