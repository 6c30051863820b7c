// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
)

// define processes the definitions in a text and returns the number of refused ones.
func define(tb testing.TB, d *Table, text string) (refused int) {
	tb.Helper()
	stream, err := wiretext.AppendStream(nil, text)
	require.NoError(tb, err)
	r := wire.NewReader(bytes.NewReader(stream), wire.MaxFrame)
	for {
		frame, err := r.Next()
		if errors.Is(err, io.EOF) {
			return refused
		}
		require.NoError(tb, err)
		no, err := d.Define(frame)
		require.NoError(tb, err)
		if no {
			refused++
		}
	}
}

func classOf(d *Table, id jvmthread.ClassID) jvmthread.ClassID {
	var none jvmthread.StackID
	d.Resolve(&id, &none)
	return id
}

func stackOf(d *Table, id jvmthread.StackID) jvmthread.StackID {
	var none jvmthread.ClassID
	d.Resolve(&none, &id)
	return id
}

// What is defined without a name is defined.
func TestUndefinedIDsAreReported(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
	assert.Zero(t, define(t, d, "class id=2 name=\"A\"\nclass id=3\nstack id=2"))
	for class, classDefined := range []bool{true, false, true, true, false} {
		for stack, stackDefined := range []bool{true, false, true, false} {
			c, s := jvmthread.ClassID(class), jvmthread.StackID(stack)
			assert.Equal(t, classDefined && stackDefined, d.Resolve(&c, &s), "class %d, stack %d", class, stack)
			assert.Equal(t, class == 2, c != jvmthread.NoClass, "class %d", class)
			assert.Equal(t, jvmthread.NoStack, s, "stack %d", stack)
		}
	}
}

func TestStacksUseTheJVMFormat(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
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
	text := func(id jvmthread.StackID) string { return d.Symbols.Stack(stackOf(d, id)) }
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
	assert.Equal(t, jvmthread.NoStack, stackOf(d, 5))
	assert.Equal(t, jvmthread.NoStack, stackOf(d, 1000), "never defined")
	assert.Equal(t, jvmthread.NoClass, classOf(d, 1000), "never defined")
}

func TestCodeOfStacks(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
	assert.Zero(t, define(t, d, `
class id=7 name="com.acme.OrderBook"
method id=1 class=7 name="add" signature="(JI)V" file="OrderBook.java" lines=0:41,9:42
method id=2 class=7 name="old" file="OrderBook.java" lines=0:50
method id=3 class=7 name="lock0" signature="()V"
stack id=1 frames=3:-1,1:5,2:3,1:10
`))
	assert.Equal(t, `at com.acme.OrderBook.lock0(Native Method)
at com.acme.OrderBook.add(OrderBook.java:41)
at com.acme.OrderBook.old(OrderBook.java:50)
at com.acme.OrderBook.add(OrderBook.java:42)
--
-1 ()V
5 (JI)V

10 (JI)V`, d.Symbols.Whole(stackOf(d, 1)))
}

func TestLockFollowsItsFrame(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
	assert.Zero(t, define(t, d, `
class id=7 name="com.acme.Inventory"
method id=1 class=7 name="take" file="Inventory.java" lines=0:41
method id=2 class=7 name="run"
stack id=1 frames=1:0,2:0 lockFrame=0 lock="Inventory.lock"
stack id=2 flags=1 frames=2:-1,1:0 lockFrame=1 lock="Inventory.rw.readLock()"
stack id=3 frames=1:0 lockFrame=1 lock="of no frame"
`))
	text := func(id jvmthread.StackID) string { return d.Symbols.Stack(stackOf(d, id)) }
	assert.Equal(t, "at com.acme.Inventory.take(Inventory.java:41)\n- lock Inventory.lock\nat com.acme.Inventory.run(Unknown Source)", text(1))
	assert.Equal(t, "at com.acme.Inventory.run(Native Method)\nat com.acme.Inventory.take(Inventory.java:41)\n- lock Inventory.rw.readLock()\n...", text(2))
	assert.Equal(t, "at com.acme.Inventory.take(Inventory.java:41)", text(3))
}

func TestDefinitionLimits(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
	assert.Equal(t, 2, define(t, d, "class id=1048577 name=\"x\"\nstack id=1048577\nclass id=1048576 name=\"y\""))
	assert.Equal(t, "y", d.Symbols.Class(classOf(d, maxID)))

	define(t, d, `method id=1 class=1048576 name="`+strings.Repeat("m", 50_000)+`"`)
	define(t, d, "stack id=1 frames="+strings.Repeat("1:0,", 9_999)+"1:0")
	assert.Less(t, len(d.Symbols.Stack(stackOf(d, 1))), 3*64<<10)
	define(t, d, "stack id=2 frames="+strings.Repeat("9:0,", 9_999)+"9:0")
	assert.Equal(t, 1024, strings.Count(d.Symbols.Stack(stackOf(d, 2)), "\n"))
	assert.True(t, strings.HasSuffix(d.Symbols.Stack(stackOf(d, 2)), "\n..."))

	limits := symbols.DefaultLimits()
	limits.Bytes = 10
	d = New(symbols.New(limits))
	assert.Equal(t, 3, define(t, d, `
class id=2 name="twelve bytes"
thread id=1 name="twelve bytes"
stack id=3 frames=9:0
class id=3 name="ten bytes."
`))
	d.methodText = maxMethodText - 10
	assert.Equal(t, 1, define(t, d, `method id=2 name="twelve bytes"`))
}

// A method that reuses the ID of another replaces it, and only one of them counts.
func TestRedefinedMethodsCountOnce(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
	text := `method id=1 name="` + strings.Repeat("m", 1<<15) + `"`
	assert.Zero(t, define(t, d, text))
	once := d.Held()
	for range maxMethodText >> 15 {
		require.Zero(t, define(t, d, text))
	}
	assert.Zero(t, define(t, d, "method id=1 name=\"m\""))
	assert.Equal(t, once-1<<15+1, d.Held())
}

// Virtual threads whose end was lost are eventually dropped, with their descriptions.
func TestVirtualThreadsWithoutEndAreDropped(t *testing.T) {
	limits := symbols.DefaultLimits()
	limits.Threads = 4
	d := New(symbols.New(limits))
	for id := range jvmthread.ThreadID(1000) {
		d.Symbols.SetThread(jvmthread.Thread{ID: id + 1, Virtual: true, Name: "v"})
		assert.True(t, d.IsNews(id+1, 5))
		d.Described(id+1, 5)
		assert.False(t, d.IsNews(id+1, 5))
	}
	left := 0
	for id := range jvmthread.ThreadID(1000) {
		if d.described.at(id+1) != 0 {
			left++
		}
	}
	assert.LessOrEqual(t, left, 2*limits.Threads)
}

func TestReconnectDefinitionsCountOnce(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
	const text = `
class id=1 name="A"
thread id=1 name="main" group="main"
method id=1 class=1 name="b"
stack id=1 frames=1:0
`
	assert.Zero(t, define(t, d, text))
	once := d.Held()
	d.Reset()
	assert.Equal(t, jvmthread.NoClass, classOf(d, 1))
	assert.Zero(t, define(t, d, text))
	assert.Equal(t, once, d.Held())
}

// A description is sent again after a while, for components that have missed it.
func TestDescriptionsAreRepeated(t *testing.T) {
	d := New(symbols.New(symbols.DefaultLimits()))
	_, err := d.Define(wire.Frame{Kind: wire.FrameThread, Payload: wire.AppendThread(nil, jvmthread.Thread{ID: 7, Name: "worker"})[wire.FrameHeaderSize:]})
	require.NoError(t, err)
	const second = jvmthread.Time(time.Second)
	assert.True(t, d.IsNews(7, 100*second))
	d.Described(7, 100*second)
	assert.False(t, d.IsNews(7, 110*second-1))
	assert.True(t, d.IsNews(7, 110*second))
	assert.False(t, d.IsNews(8, 110*second), "a thread that is not known")
}
