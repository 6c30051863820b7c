// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// world is one simulation. Its goroutine does one thing at a time, and waits until all others have nothing to do; so a seed does the same each
// time, as far as the order of maps and of goroutines does not matter.
type world struct {
	rng     *rand.Rand
	plan    plan
	begun   time.Time
	started time.Time      // when the last collector did
	moved   time.Time      // when the edge last knew other gateways than before
	ending  sync.WaitGroup // lives that end
	torn    atomic.Bool    // a collector was killed while it stopped
	excused atomic.Bool    // it was killed when the queue on its disk had requests in memory only

	agents   []*agent
	edge     *place // nil: agents are connected to the gateway
	gateways []*place
	backend  *backend
	topic    topic // between edge and gateway, if the plan has it
	up, down link  // from the edge, and to the backend

	mu      sync.Mutex
	routes  []int // the gateways that the edge knows
	notes   []string
	failed  []string
	doubled map[spanID]int          // events that may be in windows of several gateways
	sends   map[spanID]map[int]bool // the gateways to which a batch was sent
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, fmt.Sprintf("%9.3fs %s", time.Since(w.begun).Seconds(), fmt.Sprintf(format, args...)))
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = append(w.failed, fmt.Sprintf(format, args...))
}

func newWorld(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := &world{rng: rng, begun: time.Now(), backend: newBackend(), doubled: make(map[spanID]int), sends: make(map[spanID]map[int]bool)}
	w.plan = newPlan(rng)
	for i := range max(1, w.plan.gateways) {
		g := &place{world: w, name: fmt.Sprint("gateway ", i), disk: newDisk()}
		g.build = func(l *life) { w.buildGateway(l, w.plan.gateways == 0) }
		w.gateways = append(w.gateways, g)
		w.routes = append(w.routes, i)
	}
	home := w.gateways[0]
	if w.plan.gateways > 0 {
		w.edge = &place{world: w, name: "edge", disk: newDisk(), build: w.buildEdge}
		home = w.edge
	}
	length := jvmthread.Time(programLength)
	if w.plan.moves {
		length = longProgram
	}
	for i := range 1 + rng.IntN(2) {
		w.agents = append(w.agents, newAgent(rng, fmt.Sprint("agent-", i), length, func() *entrance {
			if l := home.current(); l != nil && !l.isDead() {
				return l.entry
			}
			return nil
		}))
	}
	return w
}

func (w *world) places() []*place {
	if w.edge == nil {
		return w.gateways
	}
	return append([]*place{w.edge}, w.gateways...)
}

func (w *world) buildGateway(l *life, receives bool) {
	to := l.export("otlp_grpc", func(q *exporterhelper.QueueBatchConfig) {
		q.Sizer, q.QueueSize, q.BlockOnOverflow = exporterhelper.RequestSizerTypeBytes, w.plan.queue, true
	}, func(ctx context.Context, td ptrace.Traces) error {
		return l.deliver(ctx, w.backend.take, &w.down, td)
	})
	analyze := l.analyze(true, w.plan.shared, to)
	l.take = func(ctx context.Context, td ptrace.Traces) error {
		w.trace(l, td)
		return analyze(ctx, td)
	}
	if receives {
		l.receive(l.take)
	}
	if w.plan.kafka {
		w.topic.read(l)
	}
}

func (w *world) buildEdge(l *life) {
	send := w.balance(l)
	if w.plan.kafka {
		send = func(ctx context.Context, td ptrace.Traces) error { return l.deliver(ctx, w.topic.append, &w.up, td) }
	}
	l.receive(l.export("load_balancing", func(q *exporterhelper.QueueBatchConfig) { q.NumConsumers = 1 }, send).ConsumeTraces)
}

// balance sends each session to one of the gateways.
func (w *world) balance(l *life) consumer.ConsumeTracesFunc {
	return func(ctx context.Context, td ptrace.Traces) error {
		var errs []error
		for i, part := range w.route(td) {
			if part.SpanCount() > 0 {
				errs = append(errs, l.deliver(ctx, w.gateway(i, part), &w.up, part))
			}
		}
		return errors.Join(errs...)
	}
}

// gateway returns what delivers a request to a gateway.
func (w *world) gateway(i int, td ptrace.Traces) func(context.Context, ptrace.Traces) error {
	w.sent(i, td)
	return func(ctx context.Context, td ptrace.Traces) error {
		l := w.gateways[i].current()
		if l == nil || l.isDead() {
			return errDown
		}
		l.cross()
		err := l.take(ctx, td)
		l.cross()
		if l.isDead() {
			return errDown
		}
		return err
	}
}

// sent notes that batches were sent to a gateway, which counts if another one gets them, too.
func (w *world) sent(gateway int, td ptrace.Traces) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				id := spanID{s.TraceID(), s.SpanID()}
				if w.sends[id] == nil {
					w.sends[id] = make(map[int]bool)
				}
				if w.sends[id][gateway] = true; len(w.sends[id]) > 1 {
					w.doubled[id] = int(threadpdata.CountEvents(s)) * (len(w.sends[id]) - 1)
				}
			}
		}
	}
}

// trace notes which batches reach a gateway.
func (w *world) trace(l *life, td ptrace.Traces) {
	if *only < 0 {
		return
	}
	for _, rs := range td.ResourceSpans().All() {
		service, _ := rs.Resource().Attributes().Get("service.name")
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				var c threadpdata.Carrier
				_ = threadpdata.Parse(s, symbols.New(symbols.DefaultLimits()), &c)
				if len(c.Events) > 0 {
					w.note("%v from %d to %d before %d", c.Events[0].Kind, c.Events[0].Time, c.Events[len(c.Events)-1].Time, c.Watermark)
				}
				w.note("%s gets batch %d of %s, %d events after %d, since %d %s", l.place.name, c.Batch, service.AsString(), len(c.Events), c.Before, c.First, c.End)
			}
		}
	}
}

// route divides a request among the gateways that the edge knows. Each session has an order of preference, as in consistent hashing.
func (w *world) route(td ptrace.Traces) []ptrace.Traces {
	w.mu.Lock()
	routes := w.routes
	w.mu.Unlock()
	parts := make([]ptrace.Traces, len(w.gateways))
	for i := range parts {
		parts[i] = ptrace.NewTraces()
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				to := parts[prefer(s.TraceID(), routes)].ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(to.Resource())
				scope := to.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(scope.Scope())
				s.CopyTo(scope.Spans().AppendEmpty())
			}
		}
	}
	return parts
}

func prefer(id pcommon.TraceID, routes []int) (best int) {
	most := -1
	for _, i := range routes {
		if weight := int(id[i%len(id)]) ^ i; weight > most {
			best, most = i, weight
		}
	}
	return best
}

// run lets the agents work, and the faults happen, until all have ended.
func (w *world) run() {
	for _, p := range w.places() {
		p.begin(0)
	}
	var agents sync.WaitGroup
	for _, a := range w.agents {
		pause := time.Duration(50+w.rng.IntN(400)) * time.Millisecond
		agents.Go(func() { a.connect(pause) })
	}
	for steps := 0; !w.over(); steps++ {
		w.plan.happen(w, steps)
		w.step(time.Duration(20+w.rng.IntN(230)) * time.Millisecond)
	}
	w.recover()
	agents.Wait()
	for _, p := range w.places() {
		if p.current() != nil {
			p.bury(0)
		}
	}
	w.ending.Wait()
}

func (w *world) step(d time.Duration) {
	for _, a := range w.agents {
		if w.rng.IntN(4) > 0 {
			a.work(w.rng)
			synctest.Wait()
		}
	}
	for _, p := range w.places() {
		p.tend(w.plan.downtime(w.rng))
	}
	synctest.Wait()
	time.Sleep(d) // in the bubble
	synctest.Wait()
}

func (w *world) over() bool {
	for _, a := range w.agents {
		if !a.over() {
			return false
		}
	}
	return true
}

// drains bounds how long it takes after the last collector has started until everything has been delivered: session_timeout, and the longest
// pause of an exporter.
const drains = 90 * time.Second

// recover repairs everything and waits until nothing is on its way.
func (w *world) recover() {
	w.up.set(false, 0)
	w.down.set(false, 0)
	w.note("all agents have ended")
	w.started = time.Now()
	for !w.empty() {
		if time.Since(w.started) > drains {
			w.fail("after %v, there is still %v", drains, w.left())
			return
		}
		w.step(time.Second)
	}
}
