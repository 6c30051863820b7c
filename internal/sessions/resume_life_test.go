// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// disk is a storage that survives the lives of its clients.
type disk struct {
	mu   sync.Mutex
	data map[string][]byte
}

// client is the disk as one life sees it.
type client struct {
	*disk

	dead   bool // it crashed: nothing is written any more
	writes int  // how many transactions it still writes, if not 0, before it crashes
}

func newDisk() *disk { return &disk{data: make(map[string][]byte)} }

func (c *client) Batch(_ context.Context, ops ...*storage.Operation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes > 0 && ops[0].Type != storage.Get {
		c.writes--
		defer func() { c.dead = c.dead || c.writes == 0 }()
	}
	for _, op := range ops {
		switch {
		case op.Type == storage.Get:
			op.Value = c.data[op.Key]
		case c.dead:
			return errors.New("crashed")
		case op.Type == storage.Set:
			c.data[op.Key] = slices.Clone(op.Value)
		default:
			delete(c.data, op.Key)
		}
	}
	return nil
}

func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := c.Batch(ctx, op)
	return op.Value, err
}

func (c *client) Set(ctx context.Context, key string, value []byte) error {
	return c.Batch(ctx, storage.SetOperation(key, value))
}

func (c *client) Delete(ctx context.Context, key string) error {
	return c.Batch(ctx, storage.DeleteOperation(key))
}

func (*client) Close(context.Context) error { return nil }

// life is a collector from its start to a crash.
type life struct {
	*sessions.Member

	client *client
	got    []string // windows that were delivered
	log    *observer.ObservedLogs
}

// Consume waits until the carriers were processed. It fails only if ctx ends.
func (l *life) Consume(ctx context.Context, td ptrace.Traces) {
	if err := l.Member.Consume(ctx, td); err != nil {
		panic(err)
	}
}

func begin(d *disk, change func(*sessions.Options)) *life {
	options := sessions.DefaultOptions()
	options.AckWithin = time.Hour
	options.Window = 300 // ns, as simulated programs are short
	options.CriticalPath.Mode = sessions.PathOff
	if change != nil {
		change(&options)
	}
	l := &life{client: &client{disk: d}}
	core, log := observer.New(zap.InfoLevel)
	l.log = log
	a := sessions.NewAnalyzer(options, zap.New(core))
	if d != nil {
		a.Keep(l.client)
	}
	l.Member = join(a, 0, func(s *sessions.Session) sessions.Follower { return &describer{Session: s, life: l} })
	return l
}

// crash ends the life. What it does then has no effect any more.
func (l *life) crash() {
	l.client.dead = true
	got := l.got
	l.Shutdown(context.Background())
	l.got = got
}

// describer is a Follower that describes windows completely.
type describer struct {
	*sessions.Session

	life    *life
	pending []string
}

func (d *describer) Window(w *window.Window) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d to %d by %s: %d events, %d missed", w.Start, w.End, w.Cut, w.Events, w.Missed)
	for _, l := range w.Lanes {
		fmt.Fprintf(&b, "\n%s %v", d.Symbols.Thread(l.Thread).Name, l.Totals)
		for _, iv := range l.Intervals.All() {
			lock, stack := d.Symbols.Class(iv.Lock.Class), d.Symbols.Stack(iv.Stack)
			iv.Lock.Class, iv.Stack = 0, 0
			fmt.Fprintf(&b, "\n %+v %s %s", iv, lock, stack)
		}
	}
	for ia := range w.Interactions() {
		lock, stack := d.Symbols.Class(ia.Lock.Class), d.Symbols.Stack(ia.Stack)
		ia.Lock.Class, ia.Stack = 0, 0
		fmt.Fprintf(&b, "\n%+v %s %s", ia, lock, stack)
	}
	d.pending = append(d.pending, b.String())
}

// windowOf reads what a describer says of a window.
func windowOf(t *testing.T, text string) (cut string, events, missed int) {
	t.Helper()
	var from, to int
	_, err := fmt.Sscanf(text, "%d to %d by %s %d events, %d missed", &from, &to, &cut, &events, &missed)
	require.NoError(t, err)
	return strings.TrimSuffix(cut, ":"), events, missed
}

func (*describer) Advanced()         {}
func (*describer) Closed(window.Cut) {}

func (d *describer) Take() sessions.Delivery {
	out := d.pending
	d.pending = nil
	if len(out) == 0 {
		return nil
	}
	return func(context.Context) { d.life.got = append(d.life.got, out...) }
}

// program returns the batches of a simulated program, as a receiver with an agent sends them: in the form of bytes, and threads described in
// their first batch only.
func program(seed uint64) (batches []ptrace.Traces) {
	sim := threadtest.Simulate(seed, 2+int(seed%9), 1+int(seed%4), 200)
	sym := symbols.New(symbols.DefaultLimits())
	for range 40 { // IDs that no life has
		sym.InternClass(fmt.Sprint("unused ", sym.Held()))
	}
	events := slices.Clone(sim.Events)
	classes := make(map[jvmthread.ClassID]jvmthread.ClassID)
	for i := range events {
		ev := &events[i]
		if class := ev.Lock.Class; class != jvmthread.NoClass {
			if classes[class] == 0 {
				classes[class] = sym.InternClass(fmt.Sprint("com.acme.Lock", class))
			}
			ev.Lock.Class = classes[class]
		}
		if ev.Kind == jvmthread.KindWait || ev.Kind == jvmthread.KindPark || ev.Kind == jvmthread.KindContendedEnter {
			ev.Stack = sym.InternStack(fmt.Sprintf("at com.acme.Main.work(Main.java:%d)", 1+i%7))
		}
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	described := make(map[jvmthread.ThreadID]bool)
	before := uint64(0)
	for number := uint64(1); len(events) > 0; number++ {
		n := min(len(events), 1+rng.IntN(30))
		for n < len(events) && events[n].Time == events[n-1].Time {
			n++
		}
		c := threadpdata.Carrier{
			Session: jvmthread.SessionID{0: 1, 1: byte(seed)}, Batch: number, Before: before, Watermark: events[n-1].Time + 1,
			Events: slices.Clone(events[:n]),
		}
		slices.SortStableFunc(c.Events, func(a, b jvmthread.Event) int { return int(a.Thread) - int(b.Thread) })
		for _, ev := range c.Events {
			for _, id := range []jvmthread.ThreadID{ev.Thread, ev.Peer} {
				if id != jvmthread.NoThread && !described[id] {
					described[id] = true
					c.Threads = append(c.Threads, jvmthread.Thread{ID: id, Name: fmt.Sprint("thread-", id)})
				}
			}
		}
		events = events[n:]
		before += uint64(n)
		if len(events) == 0 {
			c.End = threadpdata.EndExit
		}
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", "orders")
		ss := rs.ScopeSpans().AppendEmpty()
		threadpdata.MarkCarriers(ss.Scope())
		c.AppendTo(ss.Spans(), sym)
		batches = append(batches, td)
	}
	return batches
}
