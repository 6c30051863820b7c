// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"errors"
	"io"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// chunk is a self-contained part of a recording, with its own metadata and constants.
type chunk struct {
	header
	src      io.ReaderAt
	at, end  int64 // offsets in the source
	raw      bool
	plans    []*eventPlan         // by small type id
	others   map[int64]*eventPlan // by other type id
	typeName map[int64]string     // of the wanted events
	pools    *constants
	about    about
	events   uint64 // wanted ones
	until    int64  // end of the readable events
	stable   int64  // end of the last checkpoint: the constants of all events before it are known
}

// smallTypes limits the length of chunk.plans. Type ids of the JDK's events are below 1 000.
const smallTypes = 1 << 12

const noMetadata = "the chunk has no metadata: the JVM was killed before it wrote any, which JDK 13 and older do at the end of a chunk"

// openChunk reads a chunk except for its events. A problem is why it cannot be read if c is nil; else it is the end of the readable part. An
// error is one of the source.
func openChunk(src io.ReaderAt, at, end int64, h header, buf []byte) (c *chunk, problem *brokenEvent, err error) {
	c = &chunk{header: h, src: src, at: at, end: end, until: end, raw: h.flags&flagCompressed == 0}
	meta, problem, err := c.findMetadata(buf)
	if meta == nil {
		return nil, problem, err
	}
	if problem := c.compile(meta); problem != nil {
		return nil, problem, nil
	}
	problem, err = c.index(buf)
	return c, problem, err
}

// compile compiles the plans of the wanted events.
func (c *chunk) compile(meta *metadata) *brokenEvent {
	pools, err := newConstants(meta, c.raw)
	if err != nil {
		return &brokenEvent{at: c.at + c.metadata, what: "malformed metadata: " + err.Error()}
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
			return &brokenEvent{at: c.at + c.metadata, what: "malformed metadata: " + err.Error()}
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

// findMetadata reads the metadata that the header points to, or else the last in the chunk.
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
			why = &brokenEvent{at: ev.at, what: "malformed metadata: " + err.Error()}
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

// index reads the constants and the events about the recording.
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
				problem = &brokenEvent{at: ev.at, what: "malformed constants, some names are missing: " + err.Error()}
			}
			continue
		}
		if p := c.plan(ev.kind); p != nil {
			c.learn(p, &ev, &v)
		}
	}
}

// salvage reads the constants after the last readable event: each checkpoint points to the previous one.
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
		_ = c.pools.add(ev.body) // as far as it can be read
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

// read passes each event of a thread to take, except those whose start is not wanted, and returns the number of malformed ones.
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
		if len(p.steps) > 0 && p.steps[0].slot == slotStart { // as in all JDKs
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
