// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package export

import (
	"cmp"
	"context"
	"io"
	"maps"
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

// newEvent begins an event of a type on a track.
func newEvent(kind uint64, on *track) proto {
	return proto(nil).number(eventType, kind).number(eventTrack, firstTrack+on.number)
}

// Perfetto writes a session as a trace in Perfetto's format: a track for each thread, a slice for each interval, and a flow arrow for each
// interaction. A session that does not fit into a store is written part by part.
type Perfetto struct {
	w       io.Writer
	packet  proto
	err     error
	flows   uint64
	ending  map[flowKey][]uint64 // flows that end at the start of an interval
	started bool
	slices  int
	tracks  map[jvmthread.ThreadID]*track
	next    uint64 // number of the next track

	// Of the current part:
	Range
	continues bool     // there was one before
	part      bool     // others follow: what is still open is in one of them
	on        []*track // by the index of the thread in the snapshot
}

// track is the track of a thread.
type track struct {
	number uint64
	last   jvmthread.Seq // of the interval that was written last; NoSeq: none was
}

// flowKey identifies the interval to which a flow leads: it begins with the effect.
type flowKey struct {
	track *track
	at    jvmthread.Time
}

// NewPerfetto returns a writer of one session.
func NewPerfetto(w io.Writer) *Perfetto {
	return &Perfetto{w: w, ending: make(map[flowKey][]uint64), tracks: make(map[jvmthread.ThreadID]*track)}
}

// Slices is how many intervals were written.
func (p *Perfetto) Slices() int { return p.slices }

// Write writes a range: the whole one, or what is left after the parts before it.
func (p *Perfetto) Write(ctx context.Context, r Range) error { return p.write(ctx, r, false) }

// WritePart writes a range that ends with the last window so far. The next one begins there.
func (p *Perfetto) WritePart(ctx context.Context, r Range) error { return p.write(ctx, r, true) }

func (p *Perfetto) write(ctx context.Context, r Range, part bool) error {
	p.Range, p.part = r, part
	p.describe()
	r.Edges(r.From, r.To, func(e store.Edge) bool {
		p.cause(&e)
		return p.err == nil
	})
	for i := range p.on {
		if p.on[i] != nil && p.err == nil && ctx.Err() == nil {
			p.thread(i)
		}
	}
	if part {
		p.forget()
		p.continues = true
	}
	return cmp.Or(p.err, ctx.Err())
}

// describe writes the process, and the threads that are new in this part.
func (p *Perfetto) describe() {
	pid := uint64(1)
	if n, err := strconv.ParseUint(p.Meta["process.pid"], 10, 31); err == nil && n > 0 {
		pid = n
	}
	if !p.started {
		p.put(proto(nil).message(packetTrack, proto(nil).number(trackUUID, processTrack).
			message(trackProcess, proto(nil).number(processPID, pid).text(processName, cmp.Or(p.Meta["service.name"], "JVM")))))
	}
	p.on = make([]*track, len(p.Threads))
	for i := range p.Threads {
		if !p.Threads[i].Known {
			continue
		}
		id := p.Threads[i].ID
		if p.on[i] = p.tracks[id]; p.on[i] != nil {
			continue
		}
		p.next++
		p.on[i] = &track{number: p.next, last: jvmthread.NoSeq}
		p.tracks[id] = p.on[i]
		tid := uint64(id)
		if tid > math.MaxInt32 { // a virtual thread
			tid = p.next
		}
		p.put(proto(nil).message(packetTrack, proto(nil).number(trackUUID, firstTrack+p.next).number(trackParent, processTrack).
			text(trackName, p.ThreadName(i)).
			message(trackThread, proto(nil).number(threadPID, pid).number(threadTID, tid).text(threadName, p.ThreadName(i)))))
	}
}

// forget drops the tracks of threads that the store no longer knows, and the flows to intervals that were written or will never be.
func (p *Perfetto) forget() {
	open := make(map[*track]jvmthread.Time)
	for i, t := range p.on {
		if t == nil {
			continue
		}
		open[t] = p.To
		for c := p.Walk(i, p.To-1, p.To); c.Next(); {
			open[t] = min(open[t], c.Start)
		}
	}
	maps.DeleteFunc(p.ending, func(k flowKey, _ []uint64) bool {
		start, known := open[k.track]
		return !known || k.at < start
	})
	maps.DeleteFunc(p.tracks, func(_ jvmthread.ThreadID, t *track) bool {
		_, known := open[t]
		return !known
	})
}

// put writes a packet. The packets of a track are in the order of time; the reader sorts the tracks.
func (p *Perfetto) put(packet proto) {
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

func (p *Perfetto) event(at jvmthread.Time, event proto) {
	p.put(proto(nil).number(packetTimestamp, uint64(max(0, at))).message(packetEvent, event))
}

// cause marks the start of an interaction by an instant on the thread that caused it.
func (p *Perfetto) cause(e *store.Edge) {
	if p.on[e.From] == nil || p.on[e.To] == nil {
		return
	}
	p.flows++
	k := flowKey{p.on[e.To], e.Effect}
	p.ending[k] = append(p.ending[k], p.flows)
	event := newEvent(instant, p.on[e.From]).text(eventCategory, "interaction").text(eventName, e.Kind.String()).fixed(eventFlow, p.flows).
		annotate("thread", p.ThreadName(e.To)).annotate("confidence", e.Confidence.String())
	if e.Lock != 0 {
		event = event.annotate("lock", p.Class(e.Lock))
	}
	p.event(e.Cause, event)
}

func (p *Perfetto) thread(i int) {
	t := p.on[i]
	written := t.last              // in earlier parts; all of them come from one engine
	c := p.Walk(i, p.From-1, p.To) // an interval that was open at the end of the part before may end there
	for c.Next() && p.err == nil {
		iv := c.Interval()
		if early := iv.End <= p.From && iv.Start < p.From; early && !p.continues || written != jvmthread.NoSeq && iv.Seq <= written {
			continue
		}
		if p.part && iv.Marks.Has(jvmthread.MarkOpen) {
			return
		}
		t.last = iv.Seq
		p.slices++
		begin := newEvent(sliceBegin, t).text(eventCategory, iv.State.String()).text(eventName, p.Title(&iv))
		k := flowKey{t, iv.Start}
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
		p.event(iv.End, newEvent(sliceEnd, t))
	}
}
