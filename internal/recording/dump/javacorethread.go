// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/recording"
)

// headerMarks stand between the name of a thread and the address of the JVM's structure, in versions from the newest to the oldest.
var headerMarks = []string{"\" J9VMThread:", "\" TID:", "\" (TID:"}

// header takes the first line of a thread: ""x" J9VMThread:0x92A3EC00, omrthread_t:0x92A3C280, java/lang/Thread:0xB56668B8, state:CW, prio=5".
func (x *javacore) header(text string) {
	if !strings.HasPrefix(text, "\"") {
		return // not a thread of Java
	}
	for _, mark := range headerMarks {
		at := strings.LastIndex(text, mark)
		if at < 1 {
			continue
		}
		h := header{name: text[1:at]}
		h.native, _ = recording.ParseHex([]byte(text[at+len(mark):]))
		x.begin(&h)
		_, state, _ := strings.Cut(text[at:], "state:")
		x.letter, _, _ = strings.Cut(state, ",")
		x.waiting, x.init = lockLine{}, ""
		return
	}
	if len(text) < maxPending && strings.Count(text, "\n") < 4 {
		x.pending = text
	}
}

// body takes another line of a thread.
func (x *javacore) body(tag, text string) {
	switch tag {
	case "3XMJAVALTHREAD": // "(java/lang/Thread getId:0x13, isDaemon:false)"
		_, id, _ := strings.Cut(text, "getId:")
		n, _ := recording.ParseHex([]byte(id))
		x.thread.id = n &^ hashed // fits into a signed number
		x.thread.daemon = strings.Contains(text, "isDaemon:true")
	case "3XMCPUTIME": // "CPU usage total: 0.004365543 secs, user: ..."
		_, total, _ := strings.Cut(text, "total: ")
		t, _ := recording.ParseTime([]byte(total), time.Second)
		x.thread.cpu = max(0, time.Duration(t))
	case "3XMTHREADBLOCK":
		x.block(text)
	case "4XESTACKTRACE":
		x.frame(javaFrame(strings.TrimPrefix(text, "at ")))
	case "4XESTACKERR":
		x.cut = true
	case "5XESTACKTRACE": // "(entered lock: java/lang/Object@0xB5666678, entry count: 1)"
		text, _ = strings.CutPrefix(text, "(entered lock: ")
		text, _, _ = strings.Cut(text, ",")
		if l, ok := parseAt(text); ok {
			x.hold(&l)
		}
	}
}

// block takes what a thread waits for: "Blocked on: java/lang/Object@0xB5666698 Owned by: "x" (J9VMThread:0x94507500, java/lang/Thread:0xB5666A18)".
func (x *javacore) block(text string) {
	verb, object, _ := strings.Cut(text, " on: ")
	object, by, _ := strings.Cut(object, " Owned by: ")
	l, ok := parseAt(object)
	if !ok {
		return
	}
	switch verb {
	case "Blocked":
		l.verb = "waiting to lock"
	case "Waiting":
		l.verb = "waiting on"
	}
	if _, name, ok := strings.Cut(by, "Initializing thread: "); ok {
		by, l.verb = name, "waiting to lock"
		x.init = strings.Trim(name, "\"")
	}
	x.waiting, x.thread.owner = l, x.ownerIn(by)
	x.await(&l)
}

// stateOf returns the state of the thread. Its letter alone does not do: threads that run Java have CW in old versions, as the JVM made them wait for the
// dump, and threads without frames, for example of the compiler, have R in new ones.
func (x *javacore) stateOf() string {
	switch {
	case x.waiting.verb == "waiting to lock":
		return "BLOCKED"
	case x.waiting.verb == "waiting on":
		return "WAITING (on object monitor)"
	case x.letter == "P":
		return "WAITING (parking)"
	case x.letter == "Z":
		return "TERMINATED"
	case x.frames > 0 && (x.letter == "R" || x.letter == "CW"):
		return "RUNNABLE"
	}
	return "" // also B: it waits for a monitor of the JVM itself
}

// ownerIn returns the thread in ""x" (J9VMThread:0x94507500, ...)" or ""x" (0x94507500)", after other words.
func (x *javacore) ownerIn(text string) owner {
	from, to := strings.IndexByte(text, '"'), strings.LastIndexByte(text, '"')
	if from == to {
		return owner{}
	}
	of := owner{name: x.name(text[from+1 : to])}
	address, _ := strings.CutPrefix(strings.TrimLeft(text[to+1:], " ("), "J9VMThread:")
	of.native, _ = recording.ParseHex([]byte(address))
	return of
}

// parseAt parses an object: "java/lang/Object@0x00000000FFE26A10".
func parseAt(text string) (l lockLine, ok bool) {
	class, address, _ := cutLast(text, '@')
	l.address, _ = recording.ParseHex([]byte(address))
	l.class = javaName(class)
	return l, l.address != 0 && class != ""
}

// javaName returns the name of a class with dots. A hidden class keeps the slash before its address.
func javaName(name string) string {
	address := ""
	if at := strings.Index(name, "/0x"); at >= 0 {
		name, address = name[:at], name[at:]
	}
	return strings.ReplaceAll(name, "/", ".") + address
}

// javaFrame returns a frame as HotSpot writes it: "java/lang/StringBuffer.append(StringBuffer.java:486(Compiled Code))".
func javaFrame(text string) string {
	function, source, _ := strings.Cut(strings.Replace(text, "(Compiled Code)", "", 1), "(")
	if strings.HasPrefix(source, "Bytecode PC") || strings.HasPrefix(source, "No Source") {
		source = "Unknown Source)"
	}
	return javaName(function) + "(" + source
}
