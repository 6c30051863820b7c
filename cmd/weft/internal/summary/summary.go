// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package summary answers: where did the threads of a recording lose time? It asks the page's API, and prints what that answers as tables.
package summary

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/why"
	"github.com/weft-otel/weft/internal/wording"
)

// Summary is what the page says about some sessions, those whose threads waited longest for each other first. Durations are nanoseconds in JSON.
type Summary struct {
	Sessions []Session `json:"sessions"`
	Total    int       `json:"total"` // sessions that there are
}

// Session is what the page says about a session. Lists have at most as many rows as requested, the most important first.
type Session struct {
	Headline   string            `json:"headline"`   // the cause of the most expensive waits, in words
	Aggregated bool              `json:"aggregated"` // the sums of an agent in aggregated mode: no threads, no history
	Session    viewapi.Session   `json:"session"`
	Answer     viewapi.Answer    `json:"answer"`
	Kinds      viewapi.Kinds     `json:"kinds"`
	Threads    []Thread          `json:"threads"` // that were blocked
	Sum        viewapi.ThreadSum `json:"sum"`     // of all platform threads
	Waits      []Wait            `json:"longest"`
	Run        *Run              `json:"longest_handoffs"` // null: no lock was handed off
	Objects    viewapi.Classes   `json:"object_waits"`
}

// Thread is the sums of the platform threads with one name, of a session's 500 that were blocked longest, or of a group of virtual threads.
type Thread struct {
	Name    string            `json:"name"`
	Threads int               `json:"threads"`
	Blocked viewapi.StateTime `json:"blocked"`
	Waited  int64             `json:"waited"` // in Object.wait
	Time    int64             `json:"time"`   // of their lives
}

// Wait is the longest wait of a method for a lock, a permit or an object of a pool.
type Wait struct {
	viewapi.Interval

	Length int64  `json:"length"` // of the whole wait
	Name   string `json:"name"`   // of what it was for
}

// Run is consecutive handoffs of one lock, each by the thread that received the lock in the previous one.
type Run struct {
	viewapi.Convoy

	Lock  viewapi.LockRow     `json:"lock"`
	Names []viewapi.ThreadRef `json:"names"` // of its threads
}

// Options choose what is asked.
type Options struct {
	From, To string // as of why.Range
	Top      int    // rows of each list
}

// BadRange is why a session has no such range.
type BadRange struct{ error }

// maxSessions bounds the sessions of a summary.
const maxSessions = 100

// Ask asks a page about its sessions.
func Ask(ctx context.Context, client *page.Client, o *Options) (*Summary, error) {
	list, err := client.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	out := &Summary{Sessions: []Session{}, Total: list.Total}
	for i := range list.Sessions[:min(len(list.Sessions), maxSessions)] {
		s := &list.Sessions[i]
		if s.From >= s.To {
			out.Sessions = append(out.Sessions, Session{Session: *s, Headline: "The recording has no two events at different times."})
			continue
		}
		a := asker{client: client, id: s.ID, top: o.Top, times: url.Values{}}
		if o.From != "" || o.To != "" { // else the page's own range, which may be longer than a parameter can say
			from, to, err := why.Range(s, o.From, o.To)
			if err != nil {
				return nil, BadRange{err}
			}
			a.times.Set("from", strconv.FormatInt(from, 10))
			a.times.Set("to", strconv.FormatInt(to, 10))
		}
		one, err := a.session(ctx)
		if err != nil {
			return nil, err
		}
		out.Sessions = append(out.Sessions, *one)
	}
	out.sort()
	return out, nil
}

// Lasts reports whether a session has more than a moment.
func (s *Summary) Lasts() bool {
	return slices.ContainsFunc(s.Sessions, func(one Session) bool { return one.Aggregated || one.Session.From < one.Session.To })
}

// asker asks about a range of a session.
type asker struct {
	client *page.Client
	id     string
	times  url.Values // of the range
	top    int
}

// query returns the parameters of a request: the range, and further names with values.
func (a *asker) query(more ...string) page.Query {
	q := maps.Clone(a.times)
	for pair := range slices.Chunk(more, 2) {
		q.Set(pair[0], pair[1])
	}
	return q
}

func (a *asker) session(ctx context.Context) (s *Session, err error) {
	s = &Session{Threads: []Thread{}, Waits: []Wait{}}
	if s.Session, err = a.client.Session(ctx, a.id); err != nil {
		return nil, err
	}
	top := strconv.Itoa(min(a.top, 100))
	if s.Answer, err = a.client.Answer(ctx, a.id, a.query("costs", top)); err != nil {
		return nil, err
	}
	if s.Kinds, err = a.client.Kinds(ctx, a.id, a.query()); err != nil {
		return nil, err
	}
	if s.Objects, err = a.client.Classes(ctx, a.id, a.query("sort", "waited.time", "limit", top)); err != nil {
		return nil, err
	}
	platform, err := a.client.Threads(ctx, a.id, a.query("only", "platform", "sort", "blocked.time", "limit", "500"))
	if err != nil {
		return nil, err
	}
	s.Sum = platform.Sum
	for i := range platform.Threads {
		row := &platform.Threads[i]
		s.addThread(row)
	}
	if s.Answer.Time > 0 {
		if err := a.contention(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.Run, err = a.run(ctx); err != nil {
		return nil, err
	}
	s.sortThreads()
	s.Headline = s.headline()
	return s, nil
}

// contention asks who waited for what others held.
func (a *asker) contention(ctx context.Context, s *Session) error {
	virtual, err := a.client.Virtual(ctx, a.id, a.query("sort", "blocked.time"))
	if err != nil {
		return err
	}
	for i := range virtual.Groups {
		g := &virtual.Groups[i]
		s.Threads = append(s.Threads, Thread{Name: g.Name, Threads: g.Threads, Blocked: g.Blocked, Waited: g.Waited.Time, Time: g.Time})
	}
	callers, err := a.client.Callers(ctx, a.id, a.query("kind", "blocked", "sort", "stats.max", "limit", strconv.Itoa(longestRows)))
	if err != nil {
		return err
	}
	for i := range callers.Callers {
		row := &callers.Callers[i]
		interval, err := a.client.Interval(ctx, a.id, row.Longest.Thread.ID, row.Longest.Time)
		if err != nil {
			return err
		}
		s.Waits = append(s.Waits, Wait{Interval: interval, Length: row.Stats.Max, Name: row.Name})
	}
	return nil
}

// run returns the longest run of handoffs.
func (a *asker) run(ctx context.Context) (*Run, error) {
	locks, err := a.client.Locks(ctx, a.id, a.query("sort", "convoy", "limit", "1"))
	if err != nil || len(locks.Locks) == 0 || locks.Locks[0].Convoy == 0 {
		return nil, err
	}
	lanes, err := a.client.LockLanes(ctx, a.id, a.query("locks", strconv.FormatUint(uint64(locks.Locks[0].Lock.ID), 10)))
	if err != nil || len(lanes.Lanes) == 0 {
		return nil, err
	}
	var longest viewapi.Convoy
	for _, convoy := range lanes.Lanes[0].Convoys {
		if convoy.Length > longest.Length {
			longest = convoy
		}
	}
	run := &Run{Convoy: longest, Lock: locks.Locks[0], Names: []viewapi.ThreadRef{}}
	for _, id := range longest.Threads {
		for _, ref := range lanes.Threads {
			if ref.ID == id {
				run.Names = append(run.Names, ref)
			}
		}
	}
	return run, nil
}

// headline says in a sentence or two what made threads wait most.
func (s *Session) headline() string {
	if n := len(s.Session.Deadlocks); n > 0 {
		return wording.Plain(wording.Deadlock(&s.Session.Deadlocks[0], clock(&s.Session, s.Session.Deadlocks[0].Since), n-1, s.Answer.Stuck))
	}
	return wording.Plain(s.Answer.Text)
}
