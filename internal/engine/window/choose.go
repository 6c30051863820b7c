// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// rank orders threads by how much their path matters to users.
type rank uint8

const (
	rankNone   rank = iota // of the JVM itself, or not wanted: never chosen
	rankDaemon             // such as the workers of a web server
	rankUser               // keeps the program from ending
)

// minor is how many times longer than any user thread a daemon must have been kept from its work to go before them: a hook that waits for a
// moment at the end of a server says nothing about the server.
const minor = 100

// Chooser chooses the thread whose critical path is shown: the one that was kept from its work longest by others, user threads before
// daemons unless that was minor. If there is none, it is the main thread, else the one that ended last.
type Chooser struct {
	// Wanted reports whether a thread may be chosen; nil: all threads of the application.
	Wanted func(jvmthread.ThreadID) bool
	// About returns the description of a thread; nil: nothing is known.
	About func(jvmthread.ThreadID) jvmthread.Thread

	best [rankUser + 1]stopped // by rank
	main jvmthread.ThreadID
}

// stopped is a thread that others kept from its work, and for how long.
type stopped struct {
	thread jvmthread.ThreadID
	time   time.Duration
}

// Choice is the reason why a thread was chosen.
type Choice uint8

// The reasons.
const (
	ChoiceNone Choice = iota // no thread
	ChoiceWaited
	ChoiceMain
	ChoiceLast
)

var choiceNames = [...]string{"none", "waited longest", "main thread", "ended last"}

// String returns the reason in words.
func (c Choice) String() string { return choiceNames[c] }

func (c *Chooser) rank(id jvmthread.ThreadID) rank {
	if c.Wanted != nil {
		if !c.Wanted(id) {
			return rankNone
		}
		return rankUser // the user knows best
	}
	if c.About == nil {
		return rankUser
	}
	switch th := c.About(id); {
	case th.OfJVM():
		return rankNone
	case th.Daemon:
		return rankDaemon
	}
	return rankUser
}

// Start forgets all threads.
func (c *Chooser) Start() {
	c.best, c.main = [rankUser + 1]stopped{}, jvmthread.NoThread
}

// Add adds a thread with a history, and for how long others kept it from its work (see Stops). Threads come in the order of their ids.
func (c *Chooser) Add(id jvmthread.ThreadID, length time.Duration) {
	if length > 0 {
		if best := &c.best[c.rank(id)]; length > best.time {
			*best = stopped{id, length}
		}
	}
	if c.main == jvmthread.NoThread && c.About != nil && c.About(id).Name == "main" && c.rank(id) == rankUser {
		c.main = id
	}
}

// Choose returns the thread of a path that ends at a time.
func (c *Chooser) Choose(g *criticalpath.Graph, end jvmthread.Time) (jvmthread.ThreadID, Choice) {
	user, daemon := c.best[rankUser], c.best[rankDaemon]
	switch {
	case daemon.time > minor*user.time:
		return daemon.thread, ChoiceWaited
	case user.thread != jvmthread.NoThread:
		return user.thread, ChoiceWaited
	case c.main != jvmthread.NoThread:
		return c.main, ChoiceMain
	}
	return c.Last(g, end)
}

// Last returns the thread that ended last. The path of a program begins with it.
func (c *Chooser) Last(g *criticalpath.Graph, end jvmthread.Time) (jvmthread.ThreadID, Choice) {
	for _, least := range [...]rank{rankUser, rankDaemon} {
		id := g.Last(end, func(id jvmthread.ThreadID) bool { return c.rank(id) >= least })
		if id != jvmthread.NoThread {
			return id, ChoiceLast
		}
	}
	return jvmthread.NoThread, ChoiceNone
}

// thread chooses the thread of the path of a window.
func (f *Finder) thread(w *Window) jvmthread.ThreadID {
	if f.Unbounded {
		id, _ := f.Last(f.scratch.verdict.graph, w.End)
		return id
	}
	f.Start()
	for _, l := range w.Lanes {
		if l.Stopped > 0 || l.Intervals.Len() > 0 {
			f.Add(l.Thread, l.Stopped)
		}
	}
	id, _ := f.Choose(f.scratch.verdict.graph, w.End)
	return id
}
