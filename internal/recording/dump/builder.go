// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Limits of a thread.
const (
	maxName  = 1 << 10 // bytes
	maxHolds = 1 << 10
	maxInits = 1 << 6
)

// builder makes threads from what a dump says of them, line by line.
type builder struct {
	symbols *symbols.Table
	names   map[string]string // one text for the names of a thread in several dumps

	thread thread
	open   bool
	state  string // of java.lang.Thread, or what stands for it
	status string
	stack  symbols.StackBuilder
	frames int
	cut    bool
	top    top
	seen   bool // a state or a frame
	blocks bool // a line says so
	inner  int  // frames above the first lock that it holds
}

// begin begins a thread.
func (b *builder) begin(h *header) {
	b.thread = thread{id: h.id, native: h.native, name: b.name(h.name), cpu: h.cpu, daemon: h.daemon, virtual: h.virtual}
	b.open, b.state, b.status = true, "", h.status
	b.frames, b.cut, b.top, b.seen, b.blocks, b.inner = 0, false, top{}, false, false, 0
	b.stack.Begin()
	if word, rest, _ := strings.Cut(h.status, " "); isState(word) {
		b.setState(word)
		b.on(rest)
	}
}

// maxNames bounds the remembered names. At the limit, they are forgotten.
const maxNames = 1 << 16

func (b *builder) name(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxName)], "\uFFFD")
	if known, ok := b.names[text]; ok {
		return known
	}
	if b.names == nil || len(b.names) >= maxNames {
		b.names = make(map[string]string)
	}
	text = strings.Clone(text)
	b.names[text] = text
	return text
}

func isState(word string) bool {
	switch word {
	case "NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED":
		return true
	}
	return false
}

// setState takes a state of java.lang.Thread, and what may follow it: "WAITING (parking)", "WAITING on java.lang.Object@1b".
func (b *builder) setState(text string) {
	word, rest, _ := strings.Cut(text, " ")
	if !isState(word) {
		return
	}
	b.state, b.seen = word, true
	if reason := strings.TrimSpace(rest); strings.HasPrefix(reason, "(") {
		b.status = reason
	} else {
		b.on(reason)
	}
}

// on takes what java.lang.management says of a wait: "on java.lang.Object@1b owned by "x" Id=3".
func (b *builder) on(text string) {
	text, isOn := strings.CutPrefix(text, "on ")
	if !isOn {
		return
	}
	name, by, owned := strings.Cut(text, " owned by ")
	if l, ok := parseLock(name); ok {
		b.await(&l)
	}
	if owned {
		b.ownedBy(by)
	}
}

// ownedBy takes the owner of what the thread waits for: "\"x\" Id=3", "\"x\" t@3".
func (b *builder) ownedBy(text string) {
	end := strings.LastIndexByte(text, '"')
	if end < 1 || text[0] != '"' {
		return
	}
	b.thread.owner.name = b.name(text[1:end])
	for _, mark := range [...]string{"Id=", "t@"} {
		if _, id, ok := strings.Cut(text[end:], mark); ok {
			b.thread.owner.id = number(id)
		}
	}
}

// frame takes a frame.
func (b *builder) frame(text string) {
	f, ok := parseFrame(text)
	if !ok {
		return
	}
	b.top.add(&f, b.frames)
	if !b.cut {
		b.cut = !b.stack.Add(f.function, f.file, f.line)
	}
	if class, isInit := strings.CutSuffix(f.function, initializer); isInit && len(b.thread.inits) < maxInits {
		b.thread.inits = append(b.thread.inits, strings.Clone(class))
	}
	b.frames++
	b.seen = true
}

func (b *builder) object(l *lockLine) object {
	return object{l.address, b.symbols.InternClass(l.class)}
}

// await takes what the thread waits for: the first of it counts.
func (b *builder) await(l *lockLine) {
	if b.thread.awaits == (object{}) {
		b.thread.awaits = b.object(l)
	}
}

// hold takes a lock that the thread holds, or a monitor that it will have again after Object.wait.
func (b *builder) hold(l *lockLine) {
	if len(b.thread.holds) < maxHolds && l.address != 0 {
		if len(b.thread.holds) == 0 {
			b.inner = b.frames
		}
		b.thread.holds = append(b.thread.holds, b.object(l))
	}
}

const initMonitor = "waiting on the Class initialization monitor for "

// lock takes a line below a frame, or of a list of synchronizers.
func (b *builder) lock(text string) {
	if class, ok := strings.CutPrefix(text, initMonitor); ok {
		b.thread.awaited = strings.Clone(strings.TrimSpace(class))
		return
	}
	text, by, owned := strings.Cut(text, " owned by ")
	l, ok := parseLock(text)
	if !ok {
		return
	}
	if owned { // VisualVM
		b.ownedBy(by)
	}
	switch l.verb {
	case "", "locked":
		b.hold(&l)
	case "waiting to lock", "waiting to re-lock in wait()", "blocked on":
		b.blocks = true
		b.await(&l)
	case "waiting on", "parking to wait for":
		b.await(&l)
	}
}

// end ends the thread. ok is false if it is not one of Java: such threads have neither an ID nor a state.
func (b *builder) end() (t thread, ok bool) {
	if !b.open {
		return t, false
	}
	b.open = false
	t = b.thread
	if b.frames > 0 {
		t.stack = b.symbols.InternStack(b.stack.End(b.cut))
	}
	t.is = b.condition()
	switch {
	case t.awaited != "":
		t.is = conditionBlocked
	case t.awaits == object{} && b.entersInner(t.is):
		t.awaits = t.holds[0]
	}
	return t, (t.id != 0 || b.seen) && b.state != "NEW" && b.state != "TERMINATED"
}

// entersInner reports whether a thread waits for the innermost lock that it is said to hold: older JVMs print "locked" for the monitor that a thread is
// about to get, and all need not print on which object it waits.
func (b *builder) entersInner(is condition) bool {
	waits, _ := b.top.waits()
	switch {
	case len(b.thread.holds) == 0:
		return false
	case waits:
		return b.inner <= len(b.top.functions)
	}
	return is == conditionBlocked && b.inner == 1
}

// condition finds what the thread does, from what the dump says and from the innermost frames.
func (b *builder) condition() condition {
	waits, joins := b.top.waits()
	switch state := b.state; {
	case state == "BLOCKED", state == "" && (b.blocks || b.status == "waiting for monitor entry"):
		return conditionBlocked
	case joins:
		return conditionJoins
	case waits:
		return conditionWaits
	case b.top.sleeps():
		return conditionSleeps
	case b.top.parks():
		return conditionParked
	case b.top.calls():
		return conditionCalls
	case state == "RUNNABLE":
		return conditionRuns
	case state == "WAITING" || state == "TIMED_WAITING":
		return b.waiting()
	case b.frames > 0 && strings.HasPrefix(b.status, "runnable"):
		return conditionRuns
	}
	return conditionUnknown // in some dumps, threads that run look like those that are blocked
}

// waiting distinguishes waits without frames that say which they are.
func (b *builder) waiting() condition {
	switch {
	case strings.HasPrefix(b.status, "(on object monitor"):
		return conditionWaits
	case strings.HasPrefix(b.status, "(sleeping"):
		return conditionSleeps
	}
	return conditionParked
}
