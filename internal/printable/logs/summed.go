// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	// burst is how many lines of a reason are written as they are.
	burst = 10
	// period is the time after which further ones are summed up in a line.
	period = 10 * time.Second
	// maxReasons limits the reasons that have a sum of their own.
	maxReasons = 64
)

// Summed returns a logger that writes the first ten lines of a reason as they are, then one line each ten seconds: the last one, with
// the number of lines in the field count. After ten seconds without any, it begins anew. The reason is the level and the message up to its
// first digit, so that addresses and ports do not matter. The number of the last seconds before a shutdown is not written.
func Summed(logger *zap.Logger) *zap.Logger {
	s := &sums{reasons: make(map[reason]*sum)}
	return logger.WithOptions(zap.WrapCore(func(to zapcore.Core) zapcore.Core { return summing{to, s} }))
}

// summing is the core of a logger, and of those derived from it, which share the sums.
type summing struct {
	zapcore.Core

	sums *sums
}

func (c summing) With(fields []zapcore.Field) zapcore.Core {
	return summing{c.Core.With(fields), c.sums}
}

func (c summing) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	switch {
	case !c.Enabled(entry.Level):
		return checked
	case entry.Level > zapcore.ErrorLevel: // the process ends
		return c.Core.Check(entry, checked)
	}
	if s := c.sums.admit(&entry); s != nil {
		return checked.AddCore(entry, repetition{c.Core, s})
	}
	return c.Core.Check(entry, checked)
}

// sums has a sum for each reason that had a line lately.
type sums struct {
	mu      sync.Mutex
	reasons map[reason]*sum
}

type reason struct {
	level   zapcore.Level
	message string
}

// sum is guarded by the mutex of all.
type sum struct {
	all    *sums
	reason reason
	lines  int // in this period
	spare  int // lines that may be written as they are

	// Of the lines that were not.
	count  int
	core   zapcore.Core // of the last one
	entry  zapcore.Entry
	fields []zapcore.Field
}

// admit returns nil if an entry may be written, otherwise the sum to add it to.
func (all *sums) admit(entry *zapcore.Entry) *sum {
	key := reason{entry.Level, entry.Message}
	if digit := strings.IndexAny(key.message, "0123456789"); digit >= 0 {
		key.message = strings.Clone(key.message[:digit])
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	s := all.reasons[key]
	if s == nil && len(all.reasons) >= maxReasons {
		key = reason{level: entry.Level}
		s = all.reasons[key]
	}
	if s == nil {
		s = &sum{all: all, reason: key, spare: burst}
		all.reasons[key] = s
		time.AfterFunc(period, s.finish)
	}
	s.lines++
	if s.spare == 0 {
		return s
	}
	s.spare--
	return nil
}

// finish ends a period: it writes the sum, if there is one, and forgets a reason without any lines.
func (s *sum) finish() {
	s.all.mu.Lock()
	last := *s
	s.lines, s.count, s.core, s.entry, s.fields = 0, 0, nil, zapcore.Entry{}, nil
	if last.lines == 0 {
		delete(s.all.reasons, s.reason)
	} else {
		time.AfterFunc(period, s.finish)
	}
	s.all.mu.Unlock()
	if last.count == 0 {
		return
	}
	last.entry.Message += " (repeated)" // samplers count it apart
	last.entry.Time = time.Now()
	if checked := last.core.Check(last.entry, nil); checked != nil {
		checked.Write(append(last.fields, zap.Int("count", last.count))...)
	}
}

// repetition is where a line goes that is not written.
type repetition struct {
	zapcore.Core

	sum *sum
}

func (r repetition) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	r.sum.all.mu.Lock()
	defer r.sum.all.mu.Unlock()
	r.sum.count++
	r.sum.core, r.sum.entry = r.Core, entry
	r.sum.fields = append(r.sum.fields[:0], fields...)
	return nil
}
