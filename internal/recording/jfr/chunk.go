// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"errors"
	"io"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// chunk is a part of a recording that stands for itself: it has its own metadata and constants.
type chunk struct {
	header
	src      io.ReaderAt
	at, end  int64 // bytes of the source
	raw      bool
	plans    []*eventPlan // by type, if that is small
	others   map[int64]*eventPlan
	typeName map[int64]string // of the events that are wanted
	pools    *constants
	about    about
	events   uint64 // that are wanted
	until    int64  // where the events end that can be read
	stable   int64  // behind the last checkpoint: all constants of the events before it are there
}

// smallTypes bounds the table of plans by number; the ids of the JDK's events are some hundreds.
const smallTypes = 1 << 12

// noMetadata says that nothing can be read.
const noMetadata = "the chunk has no metadata: the JVM was killed before it wrote any, as JDK 13 and older do only at the end of a chunk"

// openChunk reads all but the events themselves. The problem says why it cannot be read, or from where on it cannot; then the chunk is good
// up to there. The error is one of the source.
func openChunk(src io.ReaderAt, at, end int64, h header, buf []byte) (c *chunk, problem *brokenEvent, err error) {
	c = &chunk{header: h, src: src, at: at, end: end, until: end, raw: h.flags&flagCompressed == 0}
	meta, problem, err := c.findMetadata(buf)
	if meta == nil {
		return nil, problem, err
	}
	if problem := c.understand(meta); problem != nil {
		return nil, problem, nil
	}
	problem, err = c.index(buf)
	return c, problem, err
}

// understand compiles what is needed from metadata.
func (c *chunk) understand(meta *metadata) *brokenEvent {
	pools, err := newConstants(meta, c.raw)
	if err != nil {
		return &brokenEvent{at: c.at + c.metadata, what: "the metadata makes no sense: " + err.Error()}
	}
	if c.pools != nil {
		pools.take(c.pools)
	}
	c.pools, c.plans, c.others, c.typeName = pools, nil, make(map[int64]*eventPlan), make(map[int64]string)
	for kind := range numKinds {
		wanted := &wantedEvents[kind]
		class := meta.byName[wanted.name]
		if class == nil {
			continue
		}
		p, err := meta.compile(class, wanted.fields)
		if err != nil {
			return &brokenEvent{at: c.at + c.metadata, what: "the metadata makes no sense: " + err.Error()}
		}
		c.typeName[class.id] = wanted.name
		ep := &eventPlan{plan: p, kind: kind}
		if class.id < 0 || class.id >= smallTypes {
			c.others[class.id] = ep
			continue
		}
		if n := int(class.id) + 1; len(c.plans) < n {
			c.plans = append(c.plans, make([]*eventPlan, n-len(c.plans))...)
		}
		c.plans[class.id] = ep
	}
	return nil
}

func (c *chunk) plan(kind int64) *eventPlan {
	if kind >= 0 && kind < int64(len(c.plans)) {
		return c.plans[kind]
	}
	if len(c.others) == 0 {
		return nil
	}
	return c.others[kind]
}

// findMetadata reads the metadata that the header points at, or else the last that there is.
func (c *chunk) findMetadata(buf []byte) (*metadata, *brokenEvent, error) {
	if c.metadata >= headerSize && c.metadata < c.end-c.at {
		s := newScanner(c.src, c.at+c.metadata, c.end, c.raw, buf)
		if ev, err := s.next(); err == nil && ev.kind == typeMetadata {
			if meta, err := parseMetadata(ev.body, c.raw); err == nil {
				return meta, nil, nil
			}
		}
	}
	var found *metadata
	var why *brokenEvent
	s := newScanner(c.src, c.at+headerSize, c.end, c.raw, buf)
	for {
		ev, err := s.next()
		if errors.Is(err, io.EOF) || asBroken(err) != nil {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if ev.kind != typeMetadata {
			continue
		}
		meta, err := parseMetadata(ev.body, c.raw)
		if err != nil {
			why = &brokenEvent{at: ev.at, what: "the metadata cannot be read: " + err.Error()}
			continue
		}
		found, c.metadata = meta, ev.at-c.at
	}
	if found == nil && why == nil {
		why = &brokenEvent{at: c.at, what: noMetadata}
	}
	if found != nil {
		why = nil
	}
	return found, why, nil
}

// index reads the constants, and what is said about the recording.
func (c *chunk) index(buf []byte) (*brokenEvent, error) {
	var v values
	var problem *brokenEvent
	s := newScanner(c.src, c.at+headerSize, c.end, c.raw, buf)
	for {
		ev, err := s.next()
		if errors.Is(err, io.EOF) {
			return problem, nil
		}
		if broken := asBroken(err); broken != nil {
			c.until = broken.at
			return broken, c.salvage(buf)
		}
		if err != nil {
			return nil, err
		}
		if ev.kind == typeCheckpoint {
			c.stable = s.pos
			if err := c.pools.add(ev.body); err != nil && problem == nil {
				problem = &brokenEvent{at: ev.at, what: "constants cannot be read, so that names are missing: " + err.Error()}
			}
			continue
		}
		if p := c.plan(ev.kind); p != nil {
			c.learn(p, &ev, &v)
		}
	}
}

// salvage reads the constants behind the place where the events cannot be read on: each checkpoint says where the one before it is.
func (c *chunk) salvage(buf []byte) error {
	for at := c.at + c.constants; c.complete() && at > c.until && at < c.end; {
		ev, err := newScanner(c.src, at, c.end, c.raw, buf).next()
		if errors.Is(err, io.EOF) || asBroken(err) != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if ev.kind != typeCheckpoint {
			return nil
		}
		_ = c.pools.add(ev.body) // what can be read of it helps
		head := cursor{b: ev.body, raw: c.raw}
		head.long() // start
		head.long() // duration
		back := head.long()
		if back >= 0 {
			return nil
		}
		at += max(back, -at)
	}
	return nil
}

// read gives each event of a thread to take, unless it is known from its begin that it is not wanted.
func (c *chunk) read(
	n *names, clk *clock, from, to int64, buf []byte, wanted func(begin jvmthread.Time) bool, take func(*record),
) (bad uint64, err error) {
	var v values
	var r record
	var cur cursor
	s := newScanner(c.src, from, to, c.raw, buf)
	for {
		ev, err := s.next()
		if errors.Is(err, io.EOF) || asBroken(err) != nil {
			return bad, nil
		}
		if err != nil {
			return bad, err
		}
		p := c.plan(ev.kind)
		if p == nil || p.kind >= kindSetting {
			continue
		}
		cur = cursor{b: ev.body, raw: c.raw}
		if len(p.steps) > 0 && p.steps[0].slot == slotStart { // as it is in all JDKs
			begin := cur
			if !wanted(jvmthread.Time(clk.at(begin.long()))) && !begin.failed {
				continue
			}
		}
		switch ok := n.read(p, clk, &cur, &v, &r); {
		case cur.failed:
			bad++
		case ok:
			take(&r)
		}
	}
}
