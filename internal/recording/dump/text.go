// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"html"
	"math"
	"strings"
)

// section is the part of a text in which a line is.
type section uint8

const (
	outside section = iota
	inThreads
	inDeadlock // that the JVM found
)

// text reads the dumps that HotSpot prints, wherever they are in a text.
type text struct {
	builder

	found    func(*dump)
	dump     *dump // the current one, or the last one in a list of deadlocks; nil: none
	section  section
	prefix   string    // of the lines of a log
	before   [3]string // the last lines
	deadlock struct{ lock uint64 }
	pending  string // a name with a line break
	quiet    bool   // frames are those of something else
}

const (
	title       = "Full thread dump"
	deadlockOf  = "Found one Java-level deadlock"
	maxPending  = 4 << 10
	maxBefore   = 1 << 8
	maxOwners   = 1 << 16
	stateIs     = "java.lang.Thread.State:"
	carriedMark = "Mounted virtual thread"
	coroutines  = "---------- Coroutine dump" // of Kotlin; they are not threads
)

// line takes a line without its end.
func (x *text) line(line []byte) {
	if prefix, jvm, found := bytes.Cut(line, []byte(title)); found {
		x.start(string(prefix), string(jvm))
		return
	}
	if x.section == outside && !mayConcern(line) {
		x.remember(line)
		return
	}
	s := string(line)
	if strings.IndexByte(s, '&') >= 0 {
		s = html.UnescapeString(s)
	}
	s = content(s, x.prefix)
	switch x.section {
	case outside:
		x.aside(s)
	case inDeadlock:
		x.cycle(s)
	default:
		x.threads(s)
	}
	x.remember(line)
}

// mayConcern reports whether a line between dumps may begin one, or a list of deadlocks.
func mayConcern(line []byte) bool {
	return bytes.IndexByte(line, '"') >= 0 && (bytes.Contains(line, []byte("tid=")) || bytes.Contains(line, []byte("Id=")) || bytes.Contains(line, []byte("t@"))) ||
		bytes.Contains(line, []byte(deadlockOf)) || bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) ||
		bytes.Contains(line, []byte("&quot;"))
}

func (x *text) remember(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		x.before = [3]string{x.before[1], x.before[2], string(line[:min(len(line), maxBefore)])}
	}
}

// start starts a dump with a title.
func (x *text) start(prefix, jvm string) {
	x.finish()
	x.prefix = prefix
	x.dump = &dump{jvm: strings.TrimSuffix(strings.TrimSpace(jvm), ":"), at: findTime(prefix)}
	if at := findTime(x.before[2]); at != 0 && (x.dump.at == 0 || isDigit(x.before[2][0]) && prefix == "") {
		x.dump.at = at // the line before is the time, unless a log has one in each line
	}
	if pid, ok := strings.CutSuffix(x.before[1], ":"); ok {
		x.dump.pid = processID(pid)
	}
	x.before = [3]string{}
	x.section = inThreads
}

// aside takes a line between dumps.
func (x *text) aside(s string) {
	if strings.HasPrefix(s, deadlockOf) && x.dump != nil {
		x.section = inDeadlock
		return
	}
	h, ok := parseHeader(s)
	if !ok || h.native == 0 && h.status == "" && !x.isPlain() {
		return
	}
	x.finish()
	x.dump = &dump{}
	x.plain()
	x.section, x.prefix = inThreads, ""
	x.threads(s)
}

// isPlain reports whether the lines before are those at the start of a dump by Thread.dump_to_file: process, time, version.
func (x *text) isPlain() bool {
	return processID(x.before[0]) != 0 && findTime(x.before[1]) != 0 && x.before[2] != "" && isDigit(x.before[2][0])
}

// plain takes them, or a time.
func (x *text) plain() {
	if x.isPlain() {
		x.dump.pid, x.dump.at, x.dump.jvm = processID(x.before[0]), findTime(x.before[1]), "("+x.before[2]+")"
	} else {
		x.dump.at = findTime(x.before[2])
	}
}

func processID(text string) uint32 {
	if n := number(text); n <= math.MaxUint32 {
		return uint32(n)
	}
	return 0
}

// threads takes a line of the list of threads.
func (x *text) threads(s string) {
	if x.pending != "" {
		s, x.pending = x.pending+"\n"+s, ""
	}
	if h, ok := parseHeader(s); ok {
		x.next()
		x.begin(&h)
		x.quiet = false
		return
	}
	switch {
	case strings.HasPrefix(s, "JNI global"), strings.HasPrefix(s, "Heap") && !x.open, strings.HasPrefix(s, coroutines):
		x.next()
		x.section, x.dump.whole = outside, true
	case strings.HasPrefix(s, deadlockOf):
		x.next()
		x.dump.whole = true
		x.section = inDeadlock
	case strings.HasPrefix(s, "\"") && !strings.HasSuffix(s, "\":") && len(s) < maxPending && strings.Count(s, "\n") < 4:
		x.pending = s
	case x.open && !x.quiet:
		x.body(s)
	}
}

// body takes a line of a thread.
func (x *text) body(s string) {
	switch {
	case strings.HasPrefix(s, stateIs):
		x.setState(strings.TrimSpace(s[len(stateIs):]))
	case strings.HasPrefix(s, "at "):
		x.frame(s[len("at "):])
	case strings.HasPrefix(s, "- "):
		x.lock(strings.TrimSpace(s[len("- "):]))
	case strings.HasPrefix(s, "on ") && x.frames == 0:
		x.on(s)
	case strings.HasPrefix(s, "owned by "):
		x.ownedBy(s[len("owned by "):])
	case strings.HasPrefix(s, "waiting for ") && x.frames == 0:
		x.awaits(s[len("waiting for "):])
	case strings.HasPrefix(s, carriedMark):
		x.mounted(s)
	case isTrouble(s):
		x.quiet = true
	}
}

// awaits takes what IntelliJ's debugger says of a wait: "main@1 to release lock on <0x2f0> (a shop.Cart)".
func (x *text) awaits(s string) {
	if name, lock, ok := strings.Cut(s, " to release lock on "); ok {
		x.thread.owner.name = x.name(name)
		x.lock("waiting to lock " + lock)
	}
}

// isTrouble reports whether a line of an application's log begins the stack of an exception.
func isTrouble(s string) bool {
	return strings.Contains(s, "Exception") || strings.Contains(s, "Error:") || strings.HasPrefix(s, "Caused by:")
}

// mounted takes "Mounted virtual thread #206" or "Mounted virtual thread "name" #206": its stack follows that of its carrier.
func (x *text) mounted(s string) {
	at := strings.LastIndexByte(s, '#')
	if at < 0 {
		return
	}
	h := header{id: number(strings.TrimSpace(s[at+1:])), virtual: true, status: "runnable"}
	if from, to := strings.IndexByte(s, '"'), strings.LastIndexByte(s, '"'); from < to {
		h.name = s[from+1 : to]
	}
	x.next()
	x.begin(&h)
}

// cycle takes a line of a deadlock that the JVM found: which lock has which owner.
func (x *text) cycle(s string) {
	switch {
	case strings.HasPrefix(s, "Java stack information"):
		x.section = outside
	case strings.HasPrefix(s, "waiting to lock monitor"):
		_, object, _ := strings.Cut(s, "object 0x")
		x.deadlock.lock = addressIn(object)
	case strings.HasPrefix(s, "waiting for ownable synchronizer 0x"):
		x.deadlock.lock = addressIn(strings.TrimPrefix(s, "waiting for ownable synchronizer 0x"))
	case strings.HasPrefix(s, "which is held by \""):
		name, _, _ := cutLast(strings.TrimPrefix(s, "which is held by \""), '"')
		if x.dump.owners == nil {
			x.dump.owners = make(map[uint64]string)
		}
		if x.deadlock.lock != 0 && len(x.dump.owners) < maxOwners {
			x.dump.owners[x.deadlock.lock] = x.name(name)
		}
		x.deadlock.lock = 0
	}
}

func addressIn(text string) uint64 {
	end := strings.IndexAny(text, ",) ")
	if end < 0 {
		end = len(text)
	}
	return hashOf(text[:end]) &^ hashed
}

// next ends the current thread.
func (x *text) next() {
	if t, ok := x.end(); ok {
		x.dump.add(&t)
	}
}

// finish ends the current dump.
func (x *text) finish() {
	x.pending, x.section, x.quiet = "", outside, false
	if x.dump == nil {
		return
	}
	x.next()
	x.dump.distinguish()
	if len(x.dump.threads) > 0 && x.found != nil {
		x.found(x.dump)
	}
	x.dump = nil
}
