// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// nearness is how likely a thread is to end what others wait for, by what a dump says of it.
type nearness int

const (
	unrelated nearness = iota
	pooled             // one of several threads of a pool that runs or sleeps
	akin               // of the same pool as those that wait: it comes to their barrier last, or loads what they need
	working            // runs a task of an executor, while others wait for a future
)

// meanwhile returns what other threads do in the last dump in which some wait for what others bring about. Dumps do not say who would: so it is the threads
// that are the nearest to it, if most of these do the same; else nil.
func (q *query) meanwhile(c *costly) *viewapi.Meanwhile {
	at := jvmthread.NoTime
	for _, t := range threadpdata.DumpTimes(q.sn.Meta[threadpdata.AttrDumps]) {
		if t >= q.from && t < q.to && c.waits.includes(t) {
			at = t
		}
	}
	of := q.relation(c)
	type activity struct{ pool, text string }
	nearest, all, does := unrelated, 0, map[activity]map[int]jvmthread.Time{}
	for i := range q.sn.Threads {
		iv, ok := q.sn.At(i, at)
		if !ok || !q.acts(&iv) {
			continue
		}
		near := of(i, &iv)
		if near > nearest {
			nearest, all = near, 0
			clear(does)
		}
		if near == unrelated || near < nearest {
			continue
		}
		did := activity{contention.Pool(q.sn.ThreadName(i)), q.activity(&iv)}
		if does[did] == nil {
			does[did] = map[int]jvmthread.Time{}
		}
		does[did][i] = 1
		all++
	}
	for did, threads := range does {
		if len(threads)*2 > all {
			return &viewapi.Meanwhile{Who: q.threadGroups(threads)[0], Text: did.text}
		}
	}
	return nil
}

// relation returns how near threads are to waits of others.
func (q *query) relation(c *costly) func(thread int, iv *store.Interval) nearness {
	pools, waiting := map[string]int{}, map[string]bool{}
	for i := range q.sn.Threads {
		pools[contention.Pool(q.sn.ThreadName(i))]++
	}
	for i := range c.waits.threads {
		waiting[contention.Pool(q.sn.ThreadName(i))] = true
	}
	return func(thread int, iv *store.Interval) nearness {
		pool := contention.Pool(q.sn.ThreadName(thread))
		_, waits := c.waits.threads[thread]
		switch {
		case waits:
		case c.kind == jvmthread.WaitFuture && q.isWorker(iv):
			return working
		case waiting[pool]:
			return akin
		case pools[pool] > 1 && (iv.State == jvmthread.StateRunnable || iv.State == jvmthread.StateSleeping):
			return pooled
		}
		return unrelated
	}
}

// acts reports whether a dump shows a thread that does something for the application: it neither waits for work nor is one of the JVM's own.
func (q *query) acts(iv *store.Interval) bool {
	return iv.State != jvmthread.StateUnknown && iv.State != jvmthread.StateDead && !iv.Wait.Idle() && q.sn.Site(iv.Stack).Function != ""
}
