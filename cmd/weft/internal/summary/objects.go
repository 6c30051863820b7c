// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// object is what threads waited for: all locks with one name in the source, or all of a class; a semaphore; a pool. Its sums are those of the
// waits that have a span.
type object struct {
	objectKey
	alone   bool          // no wait for another object of the class has a span
	alike   time.Duration // of all objects of the class
	entry   string        // the library's method through which the application waited last
	count   int64
	time    time.Duration
	threads map[waiterKey]*waiter // of which there are as many as the session has
	sites   map[string]time.Duration
	holders map[string]time.Duration // by thread name: the part of the waits in which it held the object
	doing   map[doing]time.Duration  // what the main holders of the waits did meanwhile
	overlap map[overlapKey]time.Duration
}

type objectKey struct {
	class  string
	name   string // as wording.Object has it
	named  bool   // the name is that of the source
	caller string // where threads waited, if neither the name nor the class says more than that it is a lock of the JDK
	kind   jvmthread.Wait
}

type waiterKey struct {
	session string
	thread  int64
}

// overlapKey is a thread and the main holder of what it waited for. Waits of one thread do not overlap, so that their sum is a time for which
// the holder had the object.
type overlapKey struct {
	waiterKey
	holder string
}

// doing is what a thread did and where; both may be unknown.
type doing struct{ holder, state, function string }

// maxDetails bounds the entries of each map of an object; further ones are not listed.
const maxDetails = 1 << 14

// addWait adds a contended wait, or the piece of it that is in the span's window, to its object.
func (c *collection) addWait(attrs pcommon.Map, kind jvmthread.Wait, length time.Duration, from origin) *object {
	o := c.object(attrs, kind)
	o.time += length
	if number(attrs, "weft.interval.start") == 0 && number(attrs, "weft.wait.start") == 0 && text(attrs, "weft.state") != "deadlocked" {
		o.count++
	}
	thread := waiterKey{from.session, number(attrs, "thread.id")}
	if o.threads[thread] == nil {
		o.threads[thread] = &waiter{name: text(attrs, "thread.name")}
	}
	o.threads[thread].time += length
	add(o.sites, text(attrs, "code.function.name"), length)
	o.entry = cmp.Or(text(attrs, "weft.wait.entry"), o.entry)
	for i, h := range holdersOf(attrs) {
		held := time.Duration(h.share * float64(length))
		add(o.holders, h.name, held)
		if i == 0 {
			add(o.doing, doing{h.name, text(attrs, "weft.lock.holder.state"), text(attrs, "weft.lock.holder.function")}, held)
			add(o.overlap, overlapKey{thread, h.name}, held)
		}
	}
	return o
}

func (c *collection) object(attrs pcommon.Map, kind jvmthread.Wait) *object {
	key := objectKey{class: text(attrs, "weft.lock.class"), kind: kind}
	name, entry := text(attrs, "weft.lock.name"), text(attrs, "weft.wait.entry")
	key.name = cmp.Or(wording.Object(kind, key.class, name, entry), "a lock of unknown class")
	key.named = name != "" && key.name == name || key.name == wording.Initialization
	if !key.named && kind != jvmthread.WaitPool && strings.HasPrefix(key.class, "java.util.") {
		key.caller = text(attrs, "code.function.name")
	}
	o := c.objects[key]
	if o == nil {
		o = &object{
			objectKey: key, threads: map[waiterKey]*waiter{}, sites: map[string]time.Duration{}, holders: map[string]time.Duration{},
			doing: map[doing]time.Duration{}, overlap: map[overlapKey]time.Duration{},
		}
		c.objects[key] = o
	}
	return o
}

type share struct {
	name  string
	share float64 // 0: not known
}

var shares = regexp.MustCompile(` <?(\d+) %(?:, |$)`)

// holdersOf returns the threads that held an object during a wait, the longest first. A trace of an earlier version names the owner when the
// wait began, which may not be the one that held it longest.
func holdersOf(attrs pcommon.Map) []share {
	first := share{name: text(attrs, "weft.lock.holder.thread.name")}
	if first.name == "" {
		return nil
	}
	if value, ok := attrs.Get("weft.lock.holder.share"); ok {
		first.share = value.Double()
	}
	return parseHolders(first.name, first.share, text(attrs, "weft.lock.holders"))
}

// parseHolders returns the holders of a wait: the first one, and those that weft.lock.holders lists after it: "a 92 %, b 8 %". Shares are 1 at
// most: a thread that has several permits counts once.
func parseHolders(name string, part float64, all string) []share {
	list, at := []share{{name, min(part, 1)}}, 0
	for _, m := range shares.FindAllStringSubmatchIndex(all, -1) {
		percent, _ := strconv.Atoi(all[m[2]:m[3]]) // digits
		if at > 0 {
			list = append(list, share{all[at:m[0]], min(float64(percent)/100, 1)})
		}
		at = m[1]
	}
	return list
}

func names(holders []share) (list []string) {
	for _, h := range holders {
		list = append(list, h.name)
	}
	return list
}

func add[K comparable](m map[K]time.Duration, k K, d time.Duration) {
	if _, known := m[k]; known || len(m) < maxDetails {
		m[k] += d
	}
}

// most returns the entry with the largest value.
func most[K comparable](m map[K]time.Duration, before func(a, b K) int) (best K, sum time.Duration) {
	first := true
	for k, d := range m {
		if first || d > sum || d == sum && before(k, best) < 0 {
			best, sum, first = k, d, false
		}
	}
	return best, sum
}

// site returns where threads waited longest.
func (o *object) site() string {
	site, _ := most(o.sites, cmp.Compare)
	return site
}

// held returns the holders, the longest first.
func (o *object) held() []string {
	var names []string
	for name := range o.holders {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(o.holders[b], o.holders[a]), cmp.Compare(a, b)) })
	return names
}

// of returns what a thread mostly did while it held the object.
func (o *object) of(holder string) doing {
	own := make(map[doing]time.Duration)
	for d, length := range o.doing {
		if d.holder == holder {
			own[d] += length
		}
	}
	d, _ := most(own, doing.compare)
	return d
}

func (d doing) compare(e doing) int {
	return cmp.Or(cmp.Compare(d.holder, e.holder), cmp.Compare(d.state, e.state), cmp.Compare(d.function, e.function))
}

// heldFor returns for how long a thread had the object at least, as one other thread that waited saw it.
func (o *object) heldFor(holder string) (longest time.Duration) {
	for k, d := range o.overlap {
		if k.holder == holder {
			longest = max(longest, d)
		}
	}
	return longest
}

// waiters returns the threads that waited, without the culprit unless it is the only one: it may have had to wait for its turn.
func (o *object) waiters(culprit string) []waiter {
	list := make([]waiter, 0, len(o.threads))
	for _, w := range o.threads {
		list = append(list, *w)
	}
	if others := slices.DeleteFunc(slices.Clone(list), func(w waiter) bool { return w.name == culprit }); len(others) > 0 {
		return others
	}
	return list
}

// sorted returns the objects, those with most time first.
func (c *collection) sorted() []*object {
	var list []*object
	byClass, number := make(map[string]time.Duration), make(map[string]int)
	for _, o := range c.objects {
		list = append(list, o)
		byClass[o.class] += o.time
		number[o.class]++
	}
	for _, o := range list {
		o.alike, o.alone = byClass[o.class], number[o.class] == 1
	}
	slices.SortFunc(list, func(a, b *object) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.class, b.class), cmp.Compare(a.name, b.name), cmp.Compare(a.caller, b.caller), cmp.Compare(a.kind, b.kind))
	})
	return list
}
