// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// Numbers of fields and values in protos/perfetto/trace: trace.proto, trace_packet.proto, track_event/track_event.proto,
// track_descriptor.proto, process_descriptor.proto, thread_descriptor.proto, debug_annotation.proto.
const (
	tracePacket = 1

	packetTimestamp = 8
	packetSequence  = 10
	packetEvent     = 11
	packetFlags     = 13
	packetTrack     = 60
	cleared         = 1 // SEQ_INCREMENTAL_STATE_CLEARED

	eventAnnotation  = 4
	eventType        = 9
	eventTrack       = 11
	eventCategory    = 22
	eventName        = 23
	eventFlow        = 47
	eventTerminating = 48
	sliceBegin       = 1
	sliceEnd         = 2
	instant          = 3

	annotationInt    = 4
	annotationString = 6
	annotationName   = 10

	trackUUID     = 1
	trackName     = 2
	trackProcess  = 3
	trackThread   = 4
	processPID    = 1
	processName   = 6
	threadPID     = 1
	threadTID     = 2
	threadName    = 5
	trackParent   = 5
	firstTrack    = 1000 // of threads: their index is added
	processTrack  = 1
	wireVarint    = 0
	wireFixed64   = 1
	wireDelimited = 2
)

// proto appends fields of protocol buffers.
type proto []byte

func (p proto) number(field int, v uint64) proto {
	p = binary.AppendUvarint(p, uint64(field)<<3|wireVarint)
	return binary.AppendUvarint(p, v)
}

func (p proto) fixed(field int, v uint64) proto {
	p = binary.AppendUvarint(p, uint64(field)<<3|wireFixed64)
	return binary.LittleEndian.AppendUint64(p, v)
}

func (p proto) text(field int, s string) proto {
	p = binary.AppendUvarint(p, uint64(field)<<3|wireDelimited)
	p = binary.AppendUvarint(p, uint64(len(s)))
	return append(p, s...)
}

func (p proto) message(field int, m proto) proto { return p.text(field, string(m)) }

// perfetto writes a trace in Perfetto's format: a track for each thread, a slice for each interval, and flow arrows for interactions.
type perfetto struct {
	q       *query
	w       io.Writer
	packet  proto
	err     error
	flows   uint64
	ending  map[flowKey][]uint64 // flows that end where an interval begins
	started bool
}

// flowKey names the interval that a flow leads to: the one that begins when the effect is there.
type flowKey struct {
	thread int
	at     jvmthread.Time
}

func (q *query) writePerfetto(w io.Writer) error {
	p := &perfetto{q: q, w: w, ending: make(map[flowKey][]uint64)}
	pid := uint64(1)
	if n, ok := parsePID(q.sn.Meta["process.pid"]); ok {
		pid = n
	}
	name := q.sn.Meta["service.name"]
	if name == "" {
		name = "JVM"
	}
	p.put(proto(nil).message(packetTrack, proto(nil).number(trackUUID, processTrack).
		message(trackProcess, proto(nil).number(processPID, pid).text(processName, name))))
	for i := range q.sn.Threads {
		if !q.sn.Threads[i].Known {
			continue
		}
		ref := q.threadRef(i)
		tid := uint64(i) // an index: ids of virtual threads need not fit
		if ref.ID <= math.MaxInt32 {
			tid = ref.ID
		}
		p.put(proto(nil).message(packetTrack, proto(nil).number(trackUUID, p.track(i)).number(trackParent, processTrack).text(trackName, ref.Name).
			message(trackThread, proto(nil).number(threadPID, pid).number(threadTID, tid).text(threadName, ref.Name))))
	}
	var edges []store.Edge
	q.sn.Edges(q.from, q.to, func(e store.Edge) bool {
		edges = append(edges, e)
		return true
	})
	for i := range edges {
		p.cause(&edges[i])
	}
	for i := range q.sn.Threads {
		if q.sn.Threads[i].Known && p.err == nil && q.ctx.Err() == nil {
			p.thread(i)
		}
	}
	return errorOf(p.err, q.ctx.Err())
}

func parsePID(s string) (n uint64, ok bool) {
	for _, c := range s {
		if c < '0' || c > '9' || n > math.MaxInt32/10 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n > 0
}

func (*perfetto) track(thread int) uint64 { return firstTrack + uint64(thread) }

// put writes a packet. Those of one track are in the order of time; the reader sorts the rest.
func (p *perfetto) put(packet proto) {
	if p.err != nil {
		return
	}
	packet = packet.number(packetSequence, 1)
	if !p.started {
		p.started = true
		packet = packet.number(packetFlags, cleared)
	}
	p.packet = p.packet[:0].message(tracePacket, packet)
	_, p.err = p.w.Write(p.packet)
}

func (p *perfetto) event(at jvmthread.Time, event proto) {
	p.put(proto(nil).number(packetTimestamp, uint64(max(0, at))).message(packetEvent, event))
}

// cause marks where an interaction begins: an instant on the thread that let the other go on.
func (p *perfetto) cause(e *store.Edge) {
	p.flows++
	k := flowKey{e.To, e.Effect}
	p.ending[k] = append(p.ending[k], p.flows)
	event := proto(nil).number(eventType, instant).number(eventTrack, p.track(e.From)).text(eventCategory, "interaction").
		text(eventName, e.Kind.String()).fixed(eventFlow, p.flows)
	event = annotate(event, "thread", p.q.threadRef(e.To).Name)
	event = annotate(event, "confidence", e.Confidence.String())
	if e.Lock != 0 {
		event = annotate(event, "lock", p.q.sn.Class(e.Lock))
	}
	p.event(e.Cause, event)
}

func (p *perfetto) thread(i int) {
	c := p.q.sn.Walk(i, p.q.from, p.q.to)
	for c.Next() && p.err == nil {
		iv := c.Interval()
		begin := proto(nil).number(eventType, sliceBegin).number(eventTrack, p.track(i)).text(eventCategory, iv.State.String()).text(eventName, p.q.sn.Title(&iv))
		k := flowKey{i, iv.Start}
		if iv.End > iv.Start || iv.State == jvmthread.StateRunnable {
			for _, id := range p.ending[k] {
				begin = begin.fixed(eventTerminating, id)
			}
			delete(p.ending, k)
		}
		begin = annotate(begin, "state", iv.State.String())
		if iv.Lock != 0 {
			begin = annotate(begin, "lock", p.q.sn.Class(iv.Lock))
			begin = annotateNumber(begin, "lock_id", int64(p.q.sn.Hash(iv.Lock)))
		}
		if iv.Peer != 0 {
			begin = annotate(begin, "owner", p.q.threadRef(iv.Peer).Name)
		}
		if iv.Stack != 0 {
			if place, _ := wording.FindPlace(p.q.sn.Stack(iv.Stack)); place.Function != "" {
				begin = annotate(begin, "function", place.Function)
				begin = annotateNumber(begin, "line", int64(place.Line))
			}
		}
		if iv.Marks.Has(jvmthread.MarkOpen) {
			begin = annotate(begin, "open", "it goes on")
		}
		p.event(iv.Start, begin)
		p.event(iv.End, proto(nil).number(eventType, sliceEnd).number(eventTrack, p.track(i)))
	}
}

func annotate(event proto, name, value string) proto {
	return event.message(eventAnnotation, proto(nil).text(annotationName, name).text(annotationString, value))
}

func annotateNumber(event proto, name string, value int64) proto {
	return event.message(eventAnnotation, proto(nil).text(annotationName, name).number(annotationInt, uint64(value)))
}
