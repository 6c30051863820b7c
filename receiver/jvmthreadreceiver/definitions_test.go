// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// define makes definitions of a text, and counts those that were refused.
func define(tb testing.TB, d *definitions, text string) (refused int) {
	tb.Helper()
	stream, err := wire.AppendStream(nil, text)
	require.NoError(tb, err)
	r := wire.NewReader(bytes.NewReader(stream), wire.MaxFrame)
	for {
		frame, err := r.Next()
		if errors.Is(err, io.EOF) {
			return refused
		}
		require.NoError(tb, err)
		no, err := d.define(frame)
		require.NoError(tb, err)
		if no {
			refused++
		}
	}
}

func TestStacksReadAsThoseOfTheJVM(t *testing.T) {
	d := newDefinitions()
	assert.Zero(t, define(t, d, `
class id=7 name="com.acme.OrderBook"
method id=1 class=7 name="add" file="OrderBook.java" lines=0:41,9:42,300:40
method id=2 class=7 name="<init>"
method id=3 class=7 name="peek" file="OrderBook.java"
stack id=1 frames=1:0,1:8,1:9,1:10,1:299,1:300,1:9999
stack id=2 frames=1:-1,2:0,3:0,99:0
stack id=3 flags=1 frames=3:0
stack id=4 flags=1
stack id=5
`))
	text := func(id jvmthread.StackID) string { return d.symbols.Stack(d.stack(id)) }
	assert.Equal(t, `at com.acme.OrderBook.add(OrderBook.java:41)
at com.acme.OrderBook.add(OrderBook.java:41)
at com.acme.OrderBook.add(OrderBook.java:42)
at com.acme.OrderBook.add(OrderBook.java:42)
at com.acme.OrderBook.add(OrderBook.java:42)
at com.acme.OrderBook.add(OrderBook.java:40)
at com.acme.OrderBook.add(OrderBook.java:40)`, text(1))
	assert.Equal(t, `at com.acme.OrderBook.add(Native Method)
at com.acme.OrderBook.<init>(Unknown Source)
at com.acme.OrderBook.peek(OrderBook.java)
at unknown(Unknown Source)`, text(2))
	assert.Equal(t, "at com.acme.OrderBook.peek(OrderBook.java)\n...", text(3))
	assert.Equal(t, "...", text(4))
	assert.Equal(t, jvmthread.NoStack, d.stack(5))
	assert.Equal(t, jvmthread.NoStack, d.stack(1000), "never defined")
	assert.Equal(t, jvmthread.NoClass, d.class(1000), "never defined")
}

func TestDefinitionsHaveLimits(t *testing.T) {
	d := newDefinitions()
	assert.Equal(t, 2, define(t, d, "class id=1048577 name=\"x\"\nstack id=1048577\nclass id=1048576 name=\"y\""))
	assert.Equal(t, "y", d.symbols.Class(d.class(maxID)))

	define(t, d, `method id=1 class=1048576 name="`+strings.Repeat("m", 50_000)+`"`)
	define(t, d, "stack id=1 frames="+strings.Repeat("1:0,", 9_999)+"1:0")
	assert.Less(t, len(d.symbols.Stack(d.stack(1))), 3*maxStackText)
	define(t, d, "stack id=2 frames="+strings.Repeat("9:0,", 9_999)+"9:0")
	assert.Equal(t, maxStackFrames, strings.Count(d.symbols.Stack(d.stack(2)), "\n"))
	assert.True(t, strings.HasSuffix(d.symbols.Stack(d.stack(2)), "\n..."))

	d.text = maxText - 10
	assert.Equal(t, 3, define(t, d, `
class id=2 name="twelve bytes"
thread id=1 name="twelve bytes"
stack id=3 frames=9:0
class id=3 name="ten bytes."
`))
	d.methodText = maxText - 10
	assert.Equal(t, 1, define(t, d, `method id=2 name="twelve bytes"`))
}

func TestTextsOfAReconnectCountOnce(t *testing.T) {
	d := newDefinitions()
	const text = `
class id=1 name="A"
thread id=1 name="main" group="main"
method id=1 class=1 name="b"
stack id=1 frames=1:0
`
	assert.Zero(t, define(t, d, text))
	once := d.text
	d.reset()
	assert.Equal(t, jvmthread.NoClass, d.class(1))
	assert.Zero(t, define(t, d, text))
	assert.Equal(t, once, d.text)
	d.dropThread(1)
	d.dropThread(1)
	assert.Equal(t, once-len("mainmain"), d.text)
}

func FuzzConnection(f *testing.F) {
	for _, seed := range []string{hello + events, hello + "class id=1 name=\"x\"\nstack id=1 frames=1:0\nend reason=1"} {
		stream, err := wire.AppendStream(nil, seed)
		require.NoError(f, err)
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		d := newDefinitions()
		s := newSession(&wire.Hello{Session: orders})
		s.definitions = d
		r := wire.NewReader(bytes.NewReader(stream), wire.MaxFrame)
		for {
			frame, err := r.Next()
			if err != nil {
				return
			}
			switch frame.Kind { //nolint:exhaustive // the others are not for the session
			case wire.FrameThread, wire.FrameClass, wire.FrameMethod, wire.FrameStack:
				_, _ = d.define(frame) // any answer is right
			case wire.FrameBatch:
				if batch, err := frame.Batch(); err == nil && s.take(&batch) == nil {
					assert.Equal(t, max(1, len(s.pending.parts)+len(s.pending.peers)), s.traces().SpanCount())
					s.done()
				}
			}
		}
	})
}
