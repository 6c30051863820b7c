// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// pacer maps recorded time to the wall clock. It belongs to one goroutine.
type pacer struct {
	pace    float64        // 0: no delays
	started time.Time      // when the first batch was delivered ...
	first   jvmthread.Time // ... and the recorded time of that moment
}

// start sets the recorded time of the present moment, once per session.
func (p *pacer) start(at jvmthread.Time) {
	if p.started.IsZero() {
		p.started, p.first = time.Now(), at
	}
}

// heartbeat is how often a session without events is shown to be alive, like an agent does; otherwise downstream components would
// consider it lost.
const heartbeat = 10 * time.Second

// step is the recorded time between heartbeats.
func (p *pacer) step() jvmthread.Time {
	return jvmthread.Time(min(float64(heartbeat)*p.pace, math.MaxInt64/4))
}

// sleep waits for a recorded time to come.
func (p *pacer) sleep(ctx context.Context, until jvmthread.Time) error {
	const longest = math.MaxInt64 / 4
	due := p.started.Add(time.Duration(min(float64(until-p.first)/p.pace, longest)))
	if left := time.Until(due); left > 0 && !outlet.Pause(ctx, left) {
		return ctx.Err()
	}
	return nil
}

// paceStep is the recorded time that is delivered at once, unless the pace is 0.
const paceStep = jvmthread.Time(100 * time.Millisecond)

// slice returns how many events to deliver at once, and their watermark.
func (p *pacer) slice(events []jvmthread.Event, watermark jvmthread.Time) (int, jvmthread.Time) {
	if p.pace == 0 || len(events) == 0 || events[len(events)-1].Time-events[0].Time <= paceStep {
		return len(events), watermark
	}
	until := events[0].Time + paceStep
	n, _ := slices.BinarySearchFunc(events, until, func(ev jvmthread.Event, t jvmthread.Time) int { return int(min(1, max(-1, ev.Time-t))) })
	return n, events[n].Time
}
