// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// baseline is the parameter with the session that a range is compared to.
const baseline = "before"

// compare returns what threads waited for more, and what less, than in another range.
func (q *query) compare() (any, *Problem) {
	sel := q.selected()
	before, p := q.compareTo()
	requests := [2]int64{q.number("before_requests", 0, 1, farAway), q.number("requests", 0, 1, farAway)}
	q.paged(100, 200)
	order := ordered[viewapi.WaitChange](q.params, "")
	if wrong := cmp.Or(q.done(), p); wrong != nil {
		return nil, wrong
	}
	then, now := before.compared(before.selected()), q.compared(sel)
	then.run.Requests, now.run.Requests = uint64(requests[0]), uint64(requests[1])
	c := compare.Runs(&then.run, &now.run)
	out := viewapi.Comparison{
		From: q.rel(q.from), To: q.rel(q.to), Session: before.sn.ID.String(), BeforeFrom: before.rel(before.from), BeforeTo: before.rel(before.to),
		Unit: string(c.Unit), Total: len(c.Changes), Offset: q.page.offset, Sum: waitChange(&c.Total),
	}
	rows := make([]viewapi.WaitChange, len(c.Changes))
	for i := range c.Changes {
		change := &c.Changes[i]
		rows[i] = waitChange(change)
		if change.Verdict == compare.Same {
			out.Same++
		}
		rows[i].Class, rows[i].BeforeLongest = then.longest(change.Key)
		if class, longest := now.longest(change.Key); longest != nil {
			rows[i].Class, rows[i].Longest = class, longest
		}
	}
	order(rows)
	out.Changes = piece(rows, q.page)
	return out, nil
}

// compareTo returns the query for the other range: by default all of the other session, or what is kept of this one before the range.
func (q *query) compareTo() (*query, *Problem) {
	sn := q.sn
	if text := q.text(baseline); text != "" {
		if sn = q.view.baseline(q.values); sn == nil {
			return nil, &Problem{http.StatusNotFound, baseline + ": no such session; it may have been discarded", baseline}
		}
	}
	values := url.Values{}
	for _, name := range []string{"name", "group", "pool", "only", "virtual_group", "state", "hide"} {
		if list, given := q.values[name]; given {
			values[name] = list
		}
	}
	same := sn.ID == q.sn.ID
	if q.values.Has("threads") {
		if values["threads"] = q.values["threads"]; !same {
			q.fail("threads", "the sessions have different threads: select them by name, group or pool")
		}
	}
	to := int64(sn.To - sn.Origin)
	if same {
		to = q.rel(q.from)
	}
	from := q.number("before_from", int64(sn.From-sn.Origin), -farAway, farAway)
	to = q.number("before_to", to, -farAway, farAway)
	if from >= to {
		q.fail("before_to", "no data from %d to %d: choose a range that begins later, or before_from and before_to", from, to)
	}
	values.Set("from", strconv.FormatInt(from, 10))
	values.Set("to", strconv.FormatInt(to, 10))
	return newQuery(q.view, sn, values), nil
}

// baseline returns the session that a request compares another one to; nil: there is none.
func (v *View) baseline(values url.Values) *store.Snapshot {
	var id jvmthread.SessionID
	raw, err := hex.DecodeString(values.Get(baseline))
	if err != nil || len(raw) != len(id) {
		return nil
	}
	s := v.store.Session(jvmthread.SessionID(raw))
	if s == nil {
		return nil
	}
	return s.Snapshot()
}

// compared is the waits of a range.
type compared struct {
	q     *query
	run   compare.Run
	worst map[compare.Key]place
	waits stackWaits
}

// compared adds up the waits of a range by what they have in common with those of another one.
func (q *query) compared(sel selection) *compared {
	out := &compared{q: q, run: compare.Run{Length: time.Duration(q.to - q.from)}, worst: map[compare.Key]place{}, waits: stackWaits{}}
	kinds := [numKinds]bool{kindBlocked: true, kindWaited: true, kindReenter: true, kindParked: true, kindJoined: true}
	q.waits(sel, kinds, func(_ kind, at place) *waits { return out.waits.of(at) })
	for at, t := range out.waits {
		if at.wait.Idle() || t.Count == 0 && t.Time == 0 {
			continue
		}
		site := q.sn.Site(at.stack)
		k := compare.Key{Kind: at.wait.String(), Object: wording.Object(at.wait, q.sn.Classes[at.class], site.Lock, site.Entry), Site: site.Function}
		out.run.Add(k, compare.Sum{Count: uint64(max(0, t.Count)), Time: time.Duration(t.Time)})
		if old, ok := out.worst[k]; t.longest.Seq != 0 && (!ok || out.longer(at, old)) {
			out.worst[k] = at
		}
	}
	return out
}

// longer reports whether a place has a longer wait than another one, the earlier of equals.
func (c *compared) longer(a, b place) bool {
	x, y := &c.waits[a].longest, &c.waits[b].longest
	return cmp.Or(cmp.Compare(x.Waited(), y.Waited()), cmp.Compare(y.Start, x.Start), cmp.Compare(y.Thread, x.Thread)) > 0
}

// longest returns the longest wait with a key, and the class of what it was for.
func (c *compared) longest(k compare.Key) (class string, _ *viewapi.Reference) {
	at, ok := c.worst[k]
	if !ok {
		return "", nil
	}
	return c.q.sn.Classes[at.class], c.q.reference(&c.waits[at].longest)
}

func waitChange(c *compare.Change) viewapi.WaitChange {
	sum := func(s compare.Sum) viewapi.StateTime {
		return viewapi.StateTime{Count: int64(min(s.Count, math.MaxInt64)), Time: int64(s.Time)}
	}
	return viewapi.WaitChange{
		Kind: c.Kind, Object: c.Object, Function: c.Site, Verdict: string(c.Verdict), Before: sum(c.Before), After: sum(c.After),
		BeforeRate: c.BeforeRate, AfterRate: c.AfterRate, Difference: c.Difference(),
	}
}
