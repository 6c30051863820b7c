// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"io"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// chunk is a self-contained part of a recording, with its own metadata and constants.
type chunk struct {
	part

	src      io.ReaderAt
	raw      bool
	plans    []*eventPlan         // by small type id
	others   map[int64]*eventPlan // by other type id
	typeName map[int64]string     // of the wanted events
	dumps    int64                // the type of thread dumps; 0: there are none
	pools    *constants
	about    about
	kinds    kindsOf
	counts   [2]counted // of events that are not read and may explain waits; of all events
	held     int64      // bytes of its metadata and constants, and least memory of a chunk: see maxOpen
	until    int64      // end of the readable events
	stable   int64      // end of the last checkpoint: the constants of all events before it are known
	damaged  bool       // openChunk returned a problem
}

// smallTypes limits the length of chunk.plans. Type ids of the JDK's events are below 1 000.
const smallTypes = 1 << 12

// chunkCost is the least memory of a chunk in bytes.
const chunkCost = 4 << 10

const noMetadata = "the chunk has no metadata: the JVM was killed before it wrote any, which JDK 13 and older do at the end of a chunk"

// openChunk reads a chunk except for its events. A problem is why it cannot be read if c is nil; else it is the end of the readable part. An
// error is one of the source.
func openChunk(src io.ReaderAt, p part, buf []byte) (c *chunk, problem *recording.Problem, err error) {
	c = &chunk{part: p, src: src, until: p.end, raw: p.flags&flagCompressed == 0, held: chunkCost}
	meta, problem, err := c.findMetadata(buf)
	if meta == nil || err != nil {
		return nil, problem, err
	}
	if problem := c.compile(meta); problem != nil {
		return nil, problem, nil
	}
	problem, err = c.index(buf)
	c.damaged = problem != nil
	return c, problem, err
}

// compile compiles the plans of the wanted events.
func (c *chunk) compile(meta *metadata) *recording.Problem {
	pools, err := newConstants(meta, c.raw)
	if err != nil {
		return malformed("metadata", c.at+c.metadata, err)
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
			return malformed("metadata", c.at+c.metadata, err)
		}
		c.typeName[class.id] = wanted.name
		if kind == kindDump {
			c.dumps = class.id
		}
		ep := &eventPlan{plan: p, brief: p.only(briefSlots), kind: kind}
		if class.id < 0 || class.id >= smallTypes {
			c.others[class.id] = ep
			continue
		}
		if n := int(class.id) + 1; len(c.plans) < n {
			c.plans = append(c.plans, make([]*eventPlan, n-len(c.plans))...)
		}
		c.plans[class.id] = ep
	}
	c.held += int64(len(c.plans)) * 8
	c.kinds = c.describe(meta)
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
func (c *chunk) findMetadata(buf []byte) (found *metadata, problem *recording.Problem, err error) {
	if c.metadata >= headerSize && c.metadata < c.end-c.at {
		s := c.scan(c.at+c.metadata, c.end, buf)
		if s.next() && s.kind == typeMetadata {
			if found, err = parseMetadata(s.body, c.raw); err == nil {
				c.held += int64(len(s.body))
				return found, nil, nil
			}
		}
	}
	problem = &recording.Problem{Byte: c.at, What: noMetadata}
	s := c.scan(c.at+headerSize, c.end, buf)
	for s.next() {
		if s.kind != typeMetadata {
			continue
		}
		if meta, err := parseMetadata(s.body, c.raw); err != nil {
			problem = malformed("metadata", s.at, err)
		} else {
			found, c.metadata = meta, s.at-c.at
			c.held += int64(len(s.body))
		}
	}
	if found != nil {
		problem = nil
	}
	return found, problem, s.err
}

// index reads the constants and the events about the recording.
func (c *chunk) index(buf []byte) (problem *recording.Problem, err error) {
	var v values
	var counts [smallTypes]uint64
	defer func() { c.name(&counts) }()
	s := c.scan(c.at+headerSize, c.end, buf)
	s.large = c.dumps
	for s.next() {
		if s.kind == typeCheckpoint {
			c.stable = s.pos
			c.held += int64(len(s.body))
			if err := c.pools.add(s.body); err != nil && problem == nil {
				problem = malformed("constants, some names are missing", s.at, err)
			}
			continue
		}
		if s.kind > typeCheckpoint && s.kind < smallTypes {
			counts[s.kind]++
		}
		if p := c.plan(s.kind); p != nil {
			c.learn(p, &s.event, &v)
		}
	}
	if s.broken != nil {
		c.until = s.broken.Byte
		return s.broken, c.salvage(buf)
	}
	return problem, s.err
}

// salvage reads the constants after the last readable event: each checkpoint points to the previous one.
func (c *chunk) salvage(buf []byte) error {
	for at := c.at + c.constants; c.complete() && at > c.until && at < c.end; {
		s := c.scan(at, c.end, buf)
		if !s.next() || s.kind != typeCheckpoint {
			return s.err
		}
		_ = c.pools.add(s.body) // as far as it can be read
		head := cursor{b: s.body, raw: c.raw}
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

// unread counts events that cannot be read.
type unread struct {
	malformed uint64
	strays    uint64 // of threads that the chunk does not define. HotSpot does not always define threads that start while the JVM ends
}

func (u *unread) add(more unread) {
	u.malformed += more.malformed
	u.strays += more.strays
}

// read passes each event of a thread to take, and the offset after it, except those whose start is not wanted.
func (c *chunk) read(
	n *names, from, to int64, buf []byte, wanted func(begin jvmthread.Time) bool, take func(r *record, after int64),
) (bad unread, err error) {
	var v values
	var r record
	var cur cursor
	s := c.scan(from, to, buf)
	for s.next() {
		p := c.plan(s.kind)
		if p == nil || p.kind >= kindSetting || p.kind == kindSample && !n.brief {
			continue
		}
		cur = cursor{b: s.body, raw: c.raw}
		if len(p.steps) > 0 && p.steps[0].slot == slotStart { // as in all JDKs
			begin := cur
			if !wanted(jvmthread.Time(c.clock.at(begin.long()))) && !begin.failed {
				continue
			}
		}
		switch ok := n.read(p, &c.clock, &cur, &v, &r); {
		case cur.failed:
			bad.malformed++
		case r.stray && r.kind != kindSample:
			bad.strays++
		case ok:
			take(&r, s.pos)
		}
	}
	return bad, s.err
}
