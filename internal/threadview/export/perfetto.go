// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package export

import (
	"cmp"
	"context"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
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

	trackUUID    = 1
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	processPID   = 1
	processName  = 6
	threadPID    = 1
	threadTID    = 2
	threadName   = 5
	trackParent  = 5
	firstTrack   = 1000 // of threads; their index is added
	processTrack = 1
)

// proto appends protocol buffer fields.
type proto []byte

func (p proto) number(field protowire.Number, v uint64) proto {
	return protowire.AppendVarint(protowire.AppendTag(p, field, protowire.VarintType), v)
}

func (p proto) fixed(field protowire.Number, v uint64) proto {
	return protowire.AppendFixed64(protowire.AppendTag(p, field, protowire.Fixed64Type), v)
}

func (p proto) text(field protowire.Number, s string) proto {
	return protowire.AppendString(protowire.AppendTag(p, field, protowire.BytesType), s)
}

func (p proto) message(field protowire.Number, m proto) proto { return p.text(field, string(m)) }

func (p proto) annotate(name, value string) proto {
	return p.message(eventAnnotation, proto(nil).text(annotationName, name).text(annotationString, value))
}

func (p proto) annotateNumber(name string, value int64) proto {
	return p.message(eventAnnotation, proto(nil).text(annotationName, name).number(annotationInt, uint64(value)))
}

// newEvent begins an event of a type on the track of a thread.
func newEvent(kind uint64, thread int) proto {
	return proto(nil).number(eventType, kind).number(eventTrack, firstTrack+uint64(thread))
}

// perfetto writes a track for each thread, a slice for each interval, and a flow arrow for each interaction.
type perfetto struct {
	Range

	w       io.Writer
	packet  proto
	err     error
	flows   uint64
	ending  map[flowKey][]uint64 // flows that end at the start of an interval
	started bool
}

// flowKey identifies the interval to which a flow leads: it begins with the effect.
type flowKey struct {
	thread int
	at     jvmthread.Time
}

// Perfetto writes the range as a trace in Perfetto's format.
func Perfetto(ctx context.Context, w io.Writer, r Range) error {
	p := &perfetto{Range: r, w: w, ending: make(map[flowKey][]uint64)}
	pid := uint64(1)
	if n, err := strconv.ParseUint(r.Meta["process.pid"], 10, 31); err == nil && n > 0 {
		pid = n
	}
	p.put(proto(nil).message(packetTrack, proto(nil).number(trackUUID, processTrack).
		message(trackProcess, proto(nil).number(processPID, pid).text(processName, cmp.Or(r.Meta["service.name"], "JVM")))))
	for i := range r.Threads {
		if !r.Threads[i].Known {
			continue
		}
		tid := uint64(r.Threads[i].ID)
		if tid > math.MaxInt32 { // a virtual thread
			tid = uint64(i)
		}
		p.put(proto(nil).message(packetTrack, proto(nil).number(trackUUID, firstTrack+uint64(i)).number(trackParent, processTrack).
			text(trackName, r.ThreadName(i)).
			message(trackThread, proto(nil).number(threadPID, pid).number(threadTID, tid).text(threadName, r.ThreadName(i)))))
	}
	r.Edges(r.From, r.To, func(e store.Edge) bool {
		p.cause(&e)
		return p.err == nil
	})
	for i := range r.Threads {
		if r.Threads[i].Known && p.err == nil && ctx.Err() == nil {
			p.thread(i)
		}
	}
	return cmp.Or(p.err, ctx.Err())
}

// put writes a packet. The packets of a track are in the order of time; the reader sorts the tracks.
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

// cause marks the start of an interaction by an instant on the thread that caused it.
func (p *perfetto) cause(e *store.Edge) {
	p.flows++
	k := flowKey{e.To, e.Effect}
	p.ending[k] = append(p.ending[k], p.flows)
	event := newEvent(instant, e.From).text(eventCategory, "interaction").text(eventName, e.Kind.String()).fixed(eventFlow, p.flows).
		annotate("thread", p.ThreadName(e.To)).annotate("confidence", e.Confidence.String())
	if e.Lock != 0 {
		event = event.annotate("lock", p.Class(e.Lock))
	}
	p.event(e.Cause, event)
}

func (p *perfetto) thread(i int) {
	c := p.Walk(i, p.From, p.To)
	for c.Next() && p.err == nil {
		iv := c.Interval()
		begin := newEvent(sliceBegin, i).text(eventCategory, iv.State.String()).text(eventName, p.Title(&iv))
		k := flowKey{i, iv.Start}
		if iv.End > iv.Start || iv.State == jvmthread.StateRunnable {
			for _, id := range p.ending[k] {
				begin = begin.fixed(eventTerminating, id)
			}
			delete(p.ending, k)
		}
		begin = begin.annotate("state", iv.State.String())
		if iv.Lock != 0 {
			begin = begin.annotate("lock", p.Class(iv.Lock)).annotateNumber("lock_id", int64(p.Locks[iv.Lock].Hash))
		}
		if iv.Peer != 0 {
			begin = begin.annotate("owner", p.ThreadName(iv.Peer))
		}
		if iv.Stack != 0 {
			if site := p.Site(iv.Stack); site.Function != "" {
				begin = begin.annotate("function", site.Function).annotateNumber("line", int64(site.Line))
			}
		}
		if iv.Marks.Has(jvmthread.MarkOpen) {
			begin = begin.annotate("open", "has not ended")
		}
		p.event(iv.Start, begin)
		p.event(iv.End, newEvent(sliceEnd, i))
	}
}
