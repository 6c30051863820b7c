// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// writer writes sessions in a format. Close ends the current one, if there is any; nil means that its end is not known.
type writer interface {
	begin(*recording.Session) error
	batch(*recording.Batch) error
	close(*recording.End) error
	// omitted counts the events that the format has no place for.
	omitted() [jvmthread.NumKinds]uint64
}

// job is a conversion. It is the sink of the decoder.
type job struct {
	ctx     context.Context //nolint:containedctx // of one call; decoders do not pass one
	req     *Request
	in      *input
	symbols *symbols.Table
	writer  writer
	single  bool // the format holds one session
	losses  *recording.Losses
	report  Report

	sessions []string // of the input, for people, up to maxListed
	seen     int      // sessions of the input
	written  int      // of them, those that are selected
	chosen   bool     // the current one is among these, and is written
	threads  map[jvmthread.ThreadID]struct{}
	damaged  bool  // the compression of the input is
	err      error // of the writer
}

const (
	maxListed  = 20
	maxCounted = 1 << 20 // threads
)

// Session begins a session, and ends the one before.
func (j *job) Session(found *recording.Session) error {
	session := *found
	if session.ID == (jvmthread.SessionID{}) {
		session.ID = formats.SessionID(j.in.seed, byte(j.seen))
	}
	j.seen++
	if len(j.sessions) < maxListed {
		j.sessions = append(j.sessions, fmt.Sprintf("%d: %s", j.seen, session.ID))
	}
	if j.chosen {
		if err := j.wrote(j.writer.close(nil)); err != nil {
			return err
		}
	}
	j.chosen = j.wants(session.ID)
	if !j.chosen {
		return j.ctx.Err()
	}
	if j.written++; j.single && j.written > 1 { // the error lists all of them
		j.chosen = false
		return j.ctx.Err()
	}
	j.report.Sessions++
	j.threads = make(map[jvmthread.ThreadID]struct{})
	return j.wrote(j.writer.begin(&session))
}

func (j *job) wants(id jvmthread.SessionID) bool {
	want := strings.ToLower(j.req.Session)
	if want == "" {
		return true
	}
	if n, err := strconv.Atoi(want); err == nil && n == j.seen {
		return true
	}
	const distinct = 4 // digits; fewer are a number
	return len(want) >= distinct && strings.HasPrefix(id.String(), want)
}

// Batch writes events.
func (j *job) Batch(b *recording.Batch) error {
	if j.seen == 0 { // the format has no sessions
		if err := j.Session(&recording.Session{}); err != nil {
			return err
		}
	}
	if err := j.ctx.Err(); err != nil {
		return err
	}
	for _, th := range b.Threads {
		j.symbols.SetThread(th)
	}
	j.in.progress.report()
	if !j.chosen {
		return nil
	}
	j.losses.See(b)
	j.count(b)
	return j.wrote(j.writer.batch(b))
}

// count adds a batch to the report.
func (j *job) count(b *recording.Batch) {
	j.report.Events += uint64(len(b.Events))
	see := func(id jvmthread.ThreadID) {
		if _, known := j.threads[id]; known {
			return
		}
		if len(j.threads) < maxCounted {
			j.threads[id] = struct{}{}
			j.report.Threads++
		} else {
			j.report.MoreThreads = true
		}
	}
	for i := range b.Threads {
		see(b.Threads[i].ID)
	}
	last := jvmthread.NoThread
	for i := range b.Events {
		if id := b.Events[i].Thread; id != last && id != jvmthread.NoThread {
			see(id)
			last = id
		}
	}
	if b.Aggregate != nil {
		j.report.Aggregates++
	}
}

// Problem adds a problem of the input to the report.
func (j *job) Problem(p recording.Problem) error {
	if err := j.ctx.Err(); err != nil {
		return err // the problem is that reading stopped
	}
	if len(j.report.Problems) < maxProblems {
		j.report.Problems = append(j.report.Problems, printable.Text(p.Error()))
	}
	return nil
}

// End ends the session.
func (j *job) End(end recording.End) error {
	if !j.chosen {
		return j.ctx.Err()
	}
	j.chosen = false
	return j.wrote(j.writer.close(&end))
}

// wrote keeps the error of the writer apart from those of the input.
func (j *job) wrote(err error) error {
	if j.err == nil {
		j.err = err
	}
	return err
}

// finish completes the report.
func (j *job) finish() Report {
	omitted := j.writer.omitted()
	for _, n := range omitted {
		j.report.Omitted += n
	}
	j.report.CannotExpress = printable.Texts(j.losses.Lines(&omitted))
	j.report.Refused = min(j.symbols.Refused(), math.MaxInt64)
	return j.report
}
