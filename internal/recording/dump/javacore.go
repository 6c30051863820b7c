// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// javacore reads the javacores of OpenJ9 and of IBM's JVMs. A tag at the start of each line says what it is about. What threads wait for is stated
// with the thread and, as the only place before Java 6, in the list of monitors before.
type javacore struct {
	builder

	found    func(*dump)
	dump     *dump // the current one; nil: none
	letter   string
	pending  string              // a header whose name has a line break
	monitor  lockLine            // the last one of the list
	monitors map[uint64]owner    // by address
	waits    map[uint64]lockLine // of the list, by address of the thread
	waiting  lockLine            // what the thread waits for
	inits    map[int]string      // by thread: who initializes the class that it waits for
	init     string              // of the current thread
}

const threadTag = "3XMTHREADINFO"

// line takes a line without its end, and reports whether it is one of a javacore.
func (x *javacore) line(line []byte) bool {
	if x.pending != "" {
		text := x.pending + "\n" + string(line)
		x.pending = ""
		x.header(text)
		return true
	}
	tag, text := cutTag(line)
	begins := tag == "0SECTION" && strings.HasPrefix(text, "TITLE ")
	switch {
	case tag == "" || x.dump == nil && tag != "0SECTION" && tag != threadTag:
		return false
	case x.dump == nil || begins:
		x.finish()
		x.dump, x.monitors, x.waits, x.inits = &dump{}, make(map[uint64]owner), make(map[uint64]lockLine), make(map[int]string)
	}
	x.take(tag, text)
	return true
}

// cutTag cuts a line into its tag, which is a digit and capital letters, and the text after it.
func cutTag(line []byte) (tag, text string) {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
	}
	if len(line) < len("0SECTION") || !isDigit(line[0]) || line[1] < 'A' || line[1] > 'Z' || line[2] < 'A' || line[2] > 'Z' {
		return "", ""
	}
	tag, text, _ = strings.Cut(string(line), " ")
	return tag, strings.TrimSpace(text)
}

// take takes a line of a javacore.
func (x *javacore) take(tag, text string) {
	switch tag {
	case "0SECTION":
		x.next()
		if strings.HasPrefix(text, "Javadump End") {
			x.dump.whole = true
			x.finish()
		}
	case "1TIDATETIMEUTC":
		x.dump.at = dateTime(text)
	case "1TIDATETIME": // in the zone of the JVM
		if x.dump.at == jvmthread.NoTime {
			x.dump.at = dateTime(text)
		}
	case "1CIJAVAVERSION":
		if _, build, ok := strings.Cut(text, "build "); ok {
			version, _, _ := strings.Cut(strings.TrimSuffix(build, ")"), " ")
			x.dump.jvm = "J9 (" + version + ")"
		}
	case "1CIPROCESSID":
		id, _, _ := strings.Cut(strings.TrimPrefix(text, "Process ID: "), " ")
		x.dump.pid = processID(id)
	case "2LKMONINUSE", "2LKREGMON": // the latter is of the JVM itself
		x.monitor = lockLine{}
	case "3LKMONOBJECT":
		x.monitorOf(text)
	case "3LKWAITER":
		x.waiter(text, "waiting to lock")
	case "3LKWAITNOTIFY":
		x.waiter(text, "waiting on")
	case threadTag:
		x.next()
		x.header(text)
	default:
		if x.open {
			x.body(tag, text)
		}
	}
}

// dateTime parses "Date: 2021/04/23 at 18:02:44:017 (UTC)".
func dateTime(text string) jvmthread.Time {
	const second = len("18:02:44")
	date, clock, _ := strings.Cut(text, " at ")
	if len(clock) > second && clock[second] == ':' {
		clock = clock[:second] + "." + clock[second+1:]
	}
	return findTime(date + " " + clock)
}

// monitorOf takes a monitor of the list: "java/lang/Object@0xB56658D8: Flat locked by "x" (J9VMThread:0x92A3EC00), entry count 1".
func (x *javacore) monitorOf(text string) {
	name, by, _ := strings.Cut(text, ": ")
	if l, ok := parseAt(name); ok && len(x.monitors) < maxOwners {
		x.monitor, x.monitors[l.address] = l, x.ownerIn(by)
	}
}

// waiter takes a thread that waits for the last monitor of the list: ""x" (J9VMThread:0x92703F00)".
func (x *javacore) waiter(text, verb string) {
	of := x.ownerIn(text)
	if of.native == 0 || x.monitor.address == 0 || len(x.waits) >= maxOwners {
		return
	}
	x.monitor.verb = verb
	x.waits[of.native] = x.monitor
}

// next ends the current thread.
func (x *javacore) next() {
	if !x.open {
		return
	}
	if x.waiting.address == 0 {
		x.waiting = x.waits[x.thread.native]
		x.await(&x.waiting)
	}
	if x.thread.owner == (owner{}) {
		x.thread.owner = x.monitors[x.waiting.address]
	}
	x.setState(x.stateOf())
	t, ok := x.end()
	if !ok {
		return
	}
	at := len(x.dump.threads)
	if x.dump.add(&t); x.init != "" && at < len(x.dump.threads) {
		x.inits[at] = x.init
	}
}

// finish ends the current dump.
func (x *javacore) finish() {
	x.pending = ""
	if x.dump == nil {
		return
	}
	x.next()
	threads := x.dump.threads
	ids := make(map[uint64]uint64, len(threads))
	for i := range threads {
		ids[threads[i].native] = threads[i].id
	}
	for i := range threads {
		threads[i].owner.id = ids[threads[i].owner.native]
	}
	for i, name := range x.inits {
		by := slices.IndexFunc(threads, func(t thread) bool { return t.name == name })
		if by >= 0 && len(threads[by].inits) == 1 {
			threads[i].awaited = threads[by].inits[0]
		}
	}
	if len(threads) > 0 {
		x.found(x.dump)
	}
	x.dump = nil
}
