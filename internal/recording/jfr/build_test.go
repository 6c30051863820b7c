// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"encoding/binary"
	"math"
	"strconv"
)

// builder writes small recordings with features that none of the tested JDKs uses: uncompressed integers, clocks that do not tick in
// nanoseconds, chunks of unknown size, old layouts. It follows the description of the format and shares no code with the reader.
type builder struct {
	packed    bool
	open      bool  // the JVM is still writing the chunk, or was killed
	perSecond int64 // ticks per second
	nanos     int64 // start of the chunk in nanoseconds since 1970
	ticks     int64 // start of the chunk in ticks
	pid       int64
	out       []byte
}

func (b *builder) long(n int64) *builder {
	if !b.packed {
		b.out = binary.BigEndian.AppendUint64(b.out, uint64(n))
		return b
	}
	u := uint64(n)
	for range 8 {
		if u < 0x80 {
			b.out = append(b.out, byte(u))
			return b
		}
		b.out = append(b.out, byte(u)|0x80)
		u >>= 7
	}
	b.out = append(b.out, byte(u))
	return b
}

func (b *builder) int(n int32) *builder {
	if !b.packed {
		b.out = binary.BigEndian.AppendUint32(b.out, uint32(n))
		return b
	}
	return b.long(int64(uint32(n)))
}

func (b *builder) byte(n byte) *builder {
	b.out = append(b.out, n)
	return b
}

// text writes a string in an encoding that depends on its length.
func (b *builder) text(s string) *builder {
	switch {
	case s == "":
		return b.byte(stringEmpty)
	case len(s)%3 == 0:
		b.byte(stringLatin1).int(int32(len(s)))
		b.out = append(b.out, s...)
	case len(s)%3 == 1:
		b.byte(stringUTF8).int(int32(len(s)))
		b.out = append(b.out, s...)
	default:
		b.byte(stringChars).int(int32(len(s)))
		for _, r := range s {
			if b.packed {
				b.long(int64(r))
			} else {
				b.out = binary.BigEndian.AppendUint16(b.out, uint16(r))
			}
		}
	}
	return b
}

// event writes an event of a type, preceded by its size.
func (b *builder) event(kind int64, fields func(*builder)) {
	body := &builder{packed: b.packed}
	body.long(kind)
	fields(body)
	if !b.packed {
		b.int(int32(len(body.out) + 4))
	} else { // the size is padded to four bytes, as by the JVM
		size := uint32(len(body.out) + 4)
		b.out = append(b.out, byte(size)|0x80, byte(size>>7)|0x80, byte(size>>14)|0x80, byte(size>>21))
	}
	b.out = append(b.out, body.out...)
}

type testClass struct {
	id     int
	name   string
	fields [][3]string // name, class, "constant", "array" or ""
}

// Numbers of types in the recordings.
const (
	typeEnter = 100 + iota
	typeWait
	typeSleep
	typeInfo
	typeSocketRead
	typeFileForce
	typePinned
	typeDump
	typeSample
	typeSetting
	typePark
	typeDeadlocked
	typeVMOperation
)

var testClasses = []testClass{
	{1, "long", nil},
	{2, "int", nil},
	{3, "boolean", nil},
	{4, "java.lang.String", nil},
	{5, "float", nil},
	{10, "jdk.jfr.Timespan", nil},
	{20, "jdk.types.Symbol", [][3]string{{"string", "4"}}},
	{21, "java.lang.Class", [][3]string{{"name", "20", "constant"}, {"modifiers", "2"}}},
	{22, "jdk.types.ThreadGroup", [][3]string{{"parent", "22", "constant"}, {"name", "4"}}},
	{23, "java.lang.Thread", [][3]string{{"osName", "4"}, {"javaName", "4"}, {"javaThreadId", "1"}, {"group", "22", "constant"}}},
	{24, "jdk.types.Method", [][3]string{{"type", "21", "constant"}, {"name", "20", "constant"}}},
	{25, "jdk.types.StackFrame", [][3]string{{"method", "24", "constant"}, {"lineNumber", "2"}, {"bytecodeIndex", "2"}}},
	{26, "jdk.types.StackTrace", [][3]string{{"truncated", "3"}, {"frames", "25", "array"}}},
	{28, "byte", nil},
	{29, "jdk.types.ChunkHeader", [][3]string{{"payload", "28", "array"}}},
	{27, "test.Inner", [][3]string{{"a", "5"}, {"b", "1", "array"}}},
	{typeEnter, "jdk.JavaMonitorEnter", [][3]string{
		{"startTime", "1"},
		{"duration", "1"},
		{"eventThread", "23", "constant"},
		{"stackTrace", "26", "constant"},
		{"monitorClass", "21", "constant"},
		{"previousOwner", "23", "constant"},
		{"address", "1"},
	}},
	{typeWait, "jdk.JavaMonitorWait", [][3]string{
		{"startTime", "1"},
		{"duration", "1"},
		{"eventThread", "23", "constant"},
		{"stackTrace", "26", "constant"},
		{"inner", "27"},
		{"monitorClass", "21", "constant"},
		{"notifier", "23", "constant"},
		{"timeout", "1", ""},
		{"timedOut", "3"},
		{"address", "1"},
	}},
	{typeSleep, "jdk.ThreadSleep", [][3]string{{"startTime", "1"}, {"duration", "1"}, {"eventThread", "23", "constant"}, {"time", "1"}}},
	{typeSocketRead, "jdk.SocketRead", [][3]string{
		{"startTime", "1"},
		{"duration", "1"},
		{"eventThread", "23", "constant"},
		{"stackTrace", "26", "constant"},
		{"host", "4"},
		{"address", "4"},
		{"port", "2"},
	}},
	{typeFileForce, "jdk.FileForce", [][3]string{{"startTime", "1"}, {"duration", "1"}, {"eventThread", "23", "constant"}, {"path", "4"}}},
	{typePinned, "jdk.VirtualThreadPinned", [][3]string{{"startTime", "1"}, {"duration", "1"}, {"eventThread", "23", "constant"}}},
	{typeDump, "jdk.ThreadDump", [][3]string{{"startTime", "1"}, {"result", "4"}}},
	{typeSample, "jdk.ExecutionSample", [][3]string{{"startTime", "1"}, {"sampledThread", "23", "constant"}}},
	{typePark, "jdk.ThreadPark", [][3]string{{"startTime", "1"}, {"duration", "1"}, {"eventThread", "23", "constant"}}},
	{typeSetting, "jdk.ActiveSetting", [][3]string{{"startTime", "1"}, {"id", "1"}, {"name", "4"}, {"value", "4"}}},
	{typeDeadlocked, "datadog.DeadlockedThread", [][3]string{
		{"startTime", "1"},
		{"threadId", "1"},
		{"threadName", "4"},
		{"lockName", "4"},
		{"lockOwnerThreadId", "1"},
		{"lockOwnerThreadName", "4"},
		{"waitingFrame", "4"},
	}},
	{typeVMOperation, "jdk.ExecuteVMOperation", [][3]string{{"startTime", "1"}, {"duration", "1"}, {"eventThread", "23", "constant"}}},
	{typeInfo, "jdk.JVMInformation", [][3]string{{"startTime", "1"}, {"jvmName", "4"}, {"javaArguments", "4"}, {"pid", "1"}}},
}

func (b *builder) metadata() {
	var texts []string
	index := map[string]int32{}
	key := func(s string) int32 {
		i, ok := index[s]
		if !ok {
			i = int32(len(texts))
			index[s] = i
			texts = append(texts, s)
		}
		return i
	}
	tree := &builder{packed: b.packed}
	begin := func(name string, children int, attributes ...string) {
		tree.int(key(name)).int(int32(len(attributes) / 2))
		for _, a := range attributes {
			tree.int(key(a))
		}
		tree.int(int32(children))
	}
	begin("root", 2)
	begin("metadata", len(testClasses))
	for _, c := range testClasses {
		attributes := []string{"id", strconv.Itoa(c.id), "name", c.name}
		if c.id >= typeEnter {
			attributes = append(attributes, "superType", "jdk.jfr.Event")
		}
		begin("class", len(c.fields), attributes...)
		for _, f := range c.fields {
			attributes := []string{"name", f[0], "class", f[1]}
			switch f[2] {
			case "constant":
				attributes = append(attributes, "constantPool", "true")
			case "array":
				attributes = append(attributes, "dimension", "1")
			}
			if f[0] == "timeout" || f[0] == "time" {
				begin("field", 1, attributes...)
				begin("annotation", 0, "class", "10", "value", "MILLISECONDS")
				continue
			}
			begin("field", 0, attributes...)
		}
	}
	begin("region", 0, "locale", "en")
	b.event(typeMetadata, func(e *builder) {
		e.long(b.ticks).long(0).long(1).int(int32(len(texts)))
		for _, s := range texts {
			e.text(s)
		}
		e.out = append(e.out, tree.out...)
	})
}

// constants writes the constants: threads 1 (main) and 2 (worker), classes 5 (com.acme.Book) and 6 (int[]), stack 9 with one frame.
func (b *builder) constants() {
	b.event(typeCheckpoint, func(e *builder) {
		e.long(b.ticks).long(0).long(0).byte(1).int(6)
		e.long(20).int(3).long(7).text("com/acme/Book").long(8).text("add").long(9).text("[I")
		e.long(21).int(2).long(5).long(7).int(1).long(6).long(9).int(1)
		e.long(22).int(2).long(1).long(0).text("system").long(2).long(1).text("main")
		e.long(23).int(2)
		e.long(1).text("main").text("main").long(1).long(2)
		e.long(2).text("").text("worker").long(17).long(2)
		e.long(24).int(1).long(6).long(5).long(8)
		e.long(26).int(1).long(9).byte(0).int(1).long(6).int(42).int(3)
	})
}

// The times of enter, wait and sleep are in ticks from the start of the chunk.
func (b *builder) enter(start, duration int64) {
	b.event(typeEnter, func(e *builder) {
		e.long(b.ticks + start).long(duration).long(2).long(9).long(5).long(1).long(0x7f0012345678)
	})
}

func (b *builder) wait(start, duration int64) {
	b.event(typeWait, func(e *builder) {
		e.long(b.ticks + start).long(duration).long(2).long(0)
		e.out = binary.BigEndian.AppendUint32(e.out, math.Float32bits(1))
		e.int(2).long(1).long(-1)
		e.long(5).long(1).long(250).byte(0).long(0x7f0012345678)
	})
}

// initialize waits while main initializes a class.
func (b *builder) initialize(start, duration int64) {
	b.event(typeWait, func(e *builder) {
		e.long(b.ticks + start).long(duration).long(2).long(9)
		e.out = binary.BigEndian.AppendUint32(e.out, math.Float32bits(1))
		e.int(2).long(1).long(-1)
		e.long(6).long(1).long(0).byte(0).long(0x7f0012345678)
	})
}

func (b *builder) sleep(start, duration int64) {
	b.event(typeSleep, func(e *builder) { e.long(b.ticks + start).long(duration).long(1).long(5) })
}

// The worker reads from a socket, or is pinned meanwhile; main waits until a file is on the disk.
func (b *builder) read(duration int64, host, address string, port int32) {
	b.event(typeSocketRead, func(e *builder) {
		e.long(b.ticks + 100).long(duration).long(2).long(9).text(host).text(address).int(port)
	})
}

func (b *builder) pin(start, duration int64) {
	b.event(typePinned, func(e *builder) { e.long(b.ticks + start).long(duration).long(2) })
}

func (b *builder) force(start, duration int64, path string) {
	b.event(typeFileForce, func(e *builder) { e.long(b.ticks + start).long(duration).long(1).text(path) })
}

// dump writes a thread dump.
func (b *builder) dump(start int64, text string) {
	b.event(typeDump, func(e *builder) { e.long(b.ticks + start).text(text) })
}

// sample finds the worker running.
func (b *builder) sample(start int64) {
	b.event(typeSample, func(e *builder) { e.long(b.ticks + start).long(2) })
}

// deadlocked reports that a thread waits for another one forever.
func (b *builder) deadlocked(start, id int64, name, lock string, owner int64, ownerName, frame string) {
	b.event(typeDeadlocked, func(e *builder) {
		e.long(b.ticks + start).long(id).text(name).text(lock).long(owner).text(ownerName).text(frame)
	})
}

// operate writes an event that is not read.
func (b *builder) operate(start int64) {
	b.event(typeVMOperation, func(e *builder) { e.long(b.ticks + start).long(10).long(1) })
}

// settings states which events are recorded.
func (b *builder) settings(types ...int64) {
	for _, of := range types {
		b.event(typeSetting, func(e *builder) { e.long(b.ticks).long(of).text("enabled").text("true") })
		b.event(typeSetting, func(e *builder) { e.long(b.ticks).long(of).text("threshold").text("1 us") })
	}
}

// flush writes a copy of the header, as a JVM does on each flush.
func (b *builder) flush() {
	head := append([]byte(Magic), 0, 2, 0, 1)
	for _, n := range []int64{int64(len(b.out)), 0, 0, b.nanos, 0, b.ticks, b.perSecond} {
		head = binary.BigEndian.AppendUint64(head, uint64(n))
	}
	head = append(head, 2, 0, 0, flagCompressed)
	b.event(typeCheckpoint, func(e *builder) {
		e.long(b.ticks).long(0).long(0).byte(1).int(1)
		e.long(29).int(1).long(1).int(headerSize)
		e.out = append(e.out, head...)
	})
}

// chunk returns a chunk with these events.
func (b *builder) chunk(events func(*builder)) []byte {
	b.out = nil
	b.out = append(b.out, Magic...)
	b.out = append(b.out, 0, 2, 0, 1)
	b.out = append(b.out, make([]byte, headerSize-len(b.out))...)
	b.event(typeInfo, func(e *builder) { e.long(b.ticks).text("Test VM").text("com.acme.Main x").long(b.pid) })
	events(b)
	constants := len(b.out)
	b.constants()
	metadata := len(b.out)
	b.metadata()
	put := func(at int, n int64) { binary.BigEndian.PutUint64(b.out[at:], uint64(n)) }
	if !b.open {
		put(8, int64(len(b.out)))
		put(16, int64(constants))
		put(24, int64(metadata))
		put(40, 1e9)
	} else {
		b.out[64] = 1
	}
	put(32, b.nanos)
	put(48, b.ticks)
	put(56, b.perSecond)
	if b.packed {
		b.out[67] = flagCompressed
	}
	return b.out
}
