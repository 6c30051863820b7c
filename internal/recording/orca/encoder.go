// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// NewEncoder returns an encoder of logs. The hash code of a thread is its id; events of threads with larger ids are omitted. The location of
// a frame is its line.
func NewEncoder(options recording.EncoderOptions) recording.Encoder {
	e := &encoder{
		options: options, methods: make(map[string]*written), classes: make(map[string]string), stacks: make(map[jvmthread.StackID][]byte),
	}
	e.Append = e.appendEvent
	return e
}

type encoder struct {
	recording.EventEncoder

	options recording.EncoderOptions
	meta    []byte              // since the last call of Sidecar
	methods map[string]*written // by class and name
	classes map[string]string   // files of written classes
	last    uint32
	stacks  map[jvmthread.StackID][]byte // as written in lines
}

// written is a method in the metadata.
type written struct {
	id    uint32
	lines []uint32 // ascending
}

// maxWritten limits what the encoder remembers. At the limit it starts over, with new numbers.
const maxWritten = 1 << 16

// Sidecar returns new lines of the metadata.
func (e *encoder) Sidecar() (extension string, text []byte) {
	text = e.meta
	e.meta = nil
	return ExtensionMeta, text
}

func (e *encoder) appendEvent(dst []byte, ev *jvmthread.Event) []byte {
	line := &events[ev.Kind]
	if line.name == "" || ev.Thread == jvmthread.NoThread || ev.Thread>>32 != 0 || ev.Peer>>32 != 0 {
		return dst
	}
	dst = recording.AppendTime(dst, ev.Time-e.options.Times.Origin, time.Second)
	dst = append(append(append(dst, ','), line.name...), ',')
	dst = appendHash(dst, uint32(ev.Thread))
	switch line.object {
	case aMonitor:
		dst = appendHash(append(dst, ','), ev.Lock.Hash)
	case aThread:
		dst = appendHash(append(dst, ','), uint32(ev.Peer))
	case noObject:
	}
	if line.owner {
		dst = appendHash(append(dst, ','), uint32(ev.Peer))
	}
	if line.named {
		dst = append(append(dst, ','), oneLine(e.options.Symbols.Thread(ev.Thread).Name)...)
	}
	if line.stack {
		dst = append(dst, e.stack(ev.Stack)...)
	}
	return append(dst, '\n')
}

func appendHash(dst []byte, hash uint32) []byte { return recording.AppendHex(dst, uint64(hash), 8) }

// oneLine replaces line breaks, which a log cannot represent.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, text)
}

// stack returns a stack as written in a line, starting with the comma before its depth.
func (e *encoder) stack(id jvmthread.StackID) []byte {
	if id == jvmthread.NoStack || !e.options.Stacks {
		return noFrames
	}
	if text, ok := e.stacks[id]; ok {
		return text
	}
	if len(e.stacks) >= maxWritten {
		clear(e.stacks)
	}
	frames := make([]byte, 0, 256)
	depth := 0
	for frame := range strings.SplitSeq(e.options.Symbols.Stack(id), "\n") {
		if frame == symbols.Truncated || frame == "" {
			continue
		}
		method, location := e.define(frame)
		frames = recording.AppendHex(append(frames, ','), uint64(method), 16)
		frames = recording.AppendHex(append(frames, ','), uint64(location), 8)
		depth++
	}
	text := append(strconv.AppendInt([]byte{','}, int64(depth), 10), frames...)
	e.stacks[id] = text
	return text
}

var noFrames = []byte(",0")

// inNative is the location of a frame in a native method.
const inNative = 1<<32 - 1

// define returns the numbers of a frame's method and location, and adds them to the metadata if they are new.
func (e *encoder) define(text string) (method, location uint32) {
	f, ok := symbols.ParseFrame(text)
	if !ok || f.Class == "" {
		return 0, 0
	}
	if file, known := e.classes[f.Class]; !known || file == "" && f.File != "" {
		e.classes[f.Class] = f.File
		e.meta = append(append(appendSignature(e.meta, f.Class), ','), oneLine(f.File)...)
		e.meta = append(e.meta, '\n')
	}
	m := e.methods[f.Function()]
	fresh := m == nil
	if fresh {
		if len(e.methods) >= maxWritten {
			clear(e.methods)
			clear(e.classes)
			clear(e.stacks)
		}
		e.last++
		m = &written{id: e.last}
		e.methods[f.Function()] = m
	}
	switch {
	case f.Line < 0:
		location = inNative
	case f.Line > 0:
		location = uint32(f.Line)
		if at, known := slices.BinarySearch(m.lines, location); !known {
			m.lines = slices.Insert(m.lines, at, location)
			fresh = true
		}
	}
	if fresh {
		e.appendMethod(f, m)
	}
	return m.id, location
}

// appendMethod appends a method to the metadata, with all lines known so far.
func (e *encoder) appendMethod(f jvmthread.Frame, m *written) {
	e.meta = appendHash(e.meta, m.id)
	e.meta = append(append(append(e.meta, ','), oneLine(f.Method)...), ",,"...) // the signature is unknown
	e.meta = append(appendSignature(e.meta, f.Class), ',')
	if len(m.lines) == 0 {
		e.meta = append(e.meta, "-1\n"...)
		return
	}
	e.meta = strconv.AppendInt(e.meta, int64(len(m.lines)), 10)
	for _, number := range m.lines {
		e.meta = appendHash(append(e.meta, ','), number)
		e.meta = strconv.AppendUint(append(e.meta, ','), uint64(number), 10)
	}
	e.meta = append(e.meta, '\n')
}

// appendSignature appends the signature of a class.
func appendSignature(dst []byte, class string) []byte {
	class = swapDots(oneLine(class))
	if strings.HasPrefix(class, "[") {
		return append(dst, class...)
	}
	return append(append(append(dst, 'L'), class...), ';')
}
