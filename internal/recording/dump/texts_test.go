// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/dump"
	"github.com/weft-otel/weft/internal/threadtest"
)

// prefixed is a text as a log has it: with a time and a level before each line.
func prefixed(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "2026-07-24T15:00:%02d.%03dZ stdout F %s", n/100%60, n%100, line)
		n++
	}
	return b.String()
}

// encoded is a text as PowerShell writes it.
func encoded(text string) []byte {
	out := []byte("\xFF\xFE")
	for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return out
}

// The threads are the same however a dump reaches us.
func TestCopies(t *testing.T) {
	plain := string(read(t, "jdk17-print-1.txt")[0])
	want := decode(t, []byte(plain)).lines()
	for name, text := range map[string][]byte{
		"CR LF":        []byte(strings.ReplaceAll(plain, "\n", "\r\n")),
		"UTF-8 mark":   []byte("\xEF\xBB\xBF" + plain),
		"UTF-16":       encoded(plain),
		"escaped":      []byte(html.EscapeString(plain)),
		"indented":     []byte("    " + strings.ReplaceAll(plain, "\n", "\n    ")),
		"other lines":  []byte("INFO started\n" + strings.ReplaceAll(plain, "\n\n", "\n\nINFO 200 GET /orders\n") + "java.lang.IllegalStateException: late\n\tat shop.A.b(A.java:3)\n"),
		"long lines":   []byte(strings.Repeat("x", 3<<20) + "\n" + plain),
		"no last line": []byte(strings.TrimSpace(plain)),
	} {
		assert.Equal(t, want, decode(t, text).lines(), name)
	}
	_, untimed, _ := strings.Cut(plain, ":52\n")
	d := decode(t, []byte("2026-07-24T14:59:59.000Z stdout F started\n"+prefixed(untimed)))
	assert.Equal(t, first, d.Sessions[0].Dumps[0])
	assert.Len(t, d.lines(), len(want))
	for i, line := range d.lines()[1:] {
		assert.Equal(t, withoutTime(want[i+1]), withoutTime(line))
	}
}

func withoutTime(line string) string { return line[strings.IndexByte(line, ' '):] }

// A log has several dumps, of which the last one is cut off in the middle of a thread, and the end of a JVM.
func TestLog(t *testing.T) {
	one, two := shot("2026-07-24 15:00:00", asleep), shot("2026-07-24 15:00:05", asleep)
	cut, _, _ := strings.Cut(two, "\tat java")
	d := decode(t, []byte("started\n"+one+"INFO order 1\nINFO order 2\n"+two[:len(two)-1]+strings.ReplaceAll(cut, ":05", ":09")))
	require.Len(t, d.Sessions, 1)
	assert.Len(t, d.Sessions[0].Dumps, 3)
	assert.Len(t, d.of(`a "x" b`), 3, "the same twice, then another stack")
	other := strings.ReplaceAll(shot("2026-07-24 15:00:07", runs), "tid=0x00007f01", "tid=0x00007f99")
	assert.Len(t, decode(t, []byte(one+other)).Sessions, 2, "after a restart, threads have other addresses")
	assert.Len(t, decode(t, []byte(one), []byte(strings.ReplaceAll(two, "17.0.1+12", "21.0.1+12"))).Sessions, 2)
}

// Without -l, the JVM names the owners of locks only where it states a deadlock.
func TestStatedDeadlock(t *testing.T) {
	text := string(read(t, "jdk17-jstack.txt")[0])
	assert.Equal(t, []string{"java.util.concurrent.locks.ReentrantLock$NonfairSync#5"}, locksOf(decode(t, []byte(text)).of("customer")))
	line := lineWith(text, "ReentrantLock")
	address := line[strings.Index(line, "0x"):strings.Index(line, ">")]
	text += "\nFound one Java-level deadlock:\n====\n\"customer\":\n  waiting for ownable synchronizer " + address +
		", (a java.util.concurrent.locks.ReentrantLock$NonfairSync),\n  which is held by \"cashier\"\n\"cashier\":\n  waiting to lock monitor 0x1 (object 0x2, a X),\n"
	assert.Contains(t, decode(t, []byte(text)).of("customer")[0], "ReentrantLock$NonfairSync#5 of cashier")
}

// VisualVM and Spring, in its text, name owners behind locks.
func TestOwnersAfterLocks(t *testing.T) {
	d := decode(t, []byte(shot("2026-07-24 15:00:00", `"a" - Thread t@36
   java.lang.Thread.State: BLOCKED
	at shop.A.b(A.java:3)
	- waiting to lock <1c74ad11> (a shop.A) owned by "b" t@34
	- locked <2c> (a shop.B)

   Locked ownable synchronizers:
	- None

"b" - Thread t@34
   java.lang.Thread.State: RUNNABLE
`)))
	assert.Equal(t, fmt.Sprintf("%d a contendedEnter shop.A#2 of b at shop.A.b(A.java:3) (1 frames)", first), d.lines()[1])
}

// IntelliJ writes neither IDs nor addresses when it freezes, and appends the coroutines.
func TestFreezeOfIntelliJ(t *testing.T) {
	d := decode(t, []byte(`"AWT-EventQueue-0" prio=0 tid=0x0 nid=0x0 blocked
     java.lang.Thread.State: BLOCKED
 on shop.Cart@70e6329c owned by "pool" Id=12
	at shop.Cart.add(Cart.java:2)

"pool" prio=0 tid=0x0 nid=0x0 runnable
     java.lang.Thread.State: RUNNABLE
 (in native)
	at java.base@21.0.5/sun.nio.ch.SocketDispatcher.read0(Native Method)

"Timer-0" prio=0 tid=0x0 nid=0x0 waiting on condition
     java.lang.Thread.State: TIMED_WAITING

	at java.base@21.0.5/java.lang.Thread.sleep(Native Method)

"Timer-0" prio=0 tid=0x0 nid=0x0 runnable
     java.lang.Thread.State: RUNNABLE

	at shop.A.b(A.java:3)


---------- Coroutine dump (stripped) ----------

- BlockingCoroutine{Active}@461d23d5 [no parent and no name, BlockingEventLoop@5486c656]
	- "child":StandaloneCoroutine{Active}@73a3a09e, state: SUSPENDED [Dispatchers.Default]
		at com.intellij.util.CoroutineScopeKt.invokeSuspend(coroutineScope.kt:85)
`))
	assert.Equal(t, []string{
		"1000000000 AWT-EventQueue-0 contendedEnter shop.Cart#1 of pool at shop.Cart.add(Cart.java:2) (1 frames)",
		"1000000000 pool park at sun.nio.ch.SocketDispatcher.read0(Native Method) (1 frames)",
		"1000000000 Timer-0 sleepStart at java.lang.Thread.sleep(Native Method) (1 frames)",
		"1000000000 Timer-0 threadStart",
		"1000000000 Timer-0 running at shop.A.b(A.java:3) (1 frames)",
	}, d.lines()[1:])
}

func TestDebuggerOfIntelliJ(t *testing.T) {
	d := decode(t, []byte(`"a@1" prio=5 tid=0x1a nid=NA waiting for monitor entry
  java.lang.Thread.State: BLOCKED
	 blocks c@3
	 waiting for b@2 to release lock on <0x2f0> (a shop.Cart)
	  at shop.Cart.add(Cart.java:2)

"b@2" prio=5 tid=0x1b nid=NA sleeping
  java.lang.Thread.State: TIMED_WAITING
	  at java.lang.Thread.sleep0(Thread.java:-1)
	  at shop.Cart.add(Cart.java:3)
	  - locked <0x2f0> (a shop.Cart)
`))
	assert.Equal(t, []string{
		"1000000000 a@1 contendedEnter shop.Cart#1 of b@2 at shop.Cart.add(Cart.java:2) (1 frames)",
		"1000000000 b@2 sleepStart at java.lang.Thread.sleep0(Native Method) (2 frames)",
	}, d.lines()[1:])
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

func locksOf(lines []string) (locks []string) {
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			if strings.Contains(word, "#") {
				locks = append(locks, word)
			}
		}
	}
	return locks
}

func TestMatch(t *testing.T) {
	for _, name := range []string{"jdk17-print-1.txt", "jdk17-jstack.txt", "jdk25-print.txt", "jdk25-file.txt"} {
		text := read(t, name)[0]
		assert.True(t, dump.Match(text[:recording.HeadSize]), name)
		assert.True(t, dump.Match(encoded(string(text))[:recording.HeadSize]), name)
	}
	for _, other := range []string{"", "started\n", "{}", "\x7fELF\x00", "1.5,ThreadStarted,0000000A,worker\n", "<?xml version=\"1.0\"?><TRACE>", "# \"x\" y\n"} {
		assert.False(t, dump.Match([]byte(other)), other)
	}
}

// Before a class, the JVM initializes its superclass. No frame says so: the only thread that waits for another class is the one.
func TestInitializerOfASubclass(t *testing.T) {
	const (
		derived = `"derived" #7 prio=5 tid=0x07 nid=0x1 in Object.wait()` + "\n   java.lang.Thread.State: RUNNABLE\n\tat shop.A.b(A.java:3)\n\t- waiting on the Class initialization monitor for shop.Base\n\n"
		base    = `"base" #8 prio=5 tid=0x08 nid=0x2 in Object.wait()` + "\n   java.lang.Thread.State: RUNNABLE\n\tat shop.Base.<clinit>(Base.java:3)\n\t- waiting on the Class initialization monitor for shop.Derived\n\n"
		other   = `"other" #9 prio=5 tid=0x09 nid=0x3 in Object.wait()` + "\n   java.lang.Thread.State: RUNNABLE\n\tat shop.C.d(C.java:3)\n\t- waiting on the Class initialization monitor for shop.Base\n\n"
		begins  = `"begins" #10 prio=5 tid=0x0a nid=0x4 runnable` + "\n   java.lang.Thread.State: RUNNABLE\n\tat shop.D.<clinit>(D.java:3)\n\n"
		needs   = " contendedEnter shop.Derived.<clinit>#1"
	)
	for text, want := range map[string]string{
		derived + base:          needs + " of derived",
		derived + base + other:  needs,
		derived + base + begins: needs,
		base:                    needs,
	} {
		d := decode(t, []byte(shot("2026-07-24 15:00:00", text)))
		assert.Equal(t, []string{fmt.Sprintf("%d base%s at shop.Base.<clinit>(Base.java:3) (1 frames)", first, want)}, d.of("base"), text)
	}
}

func TestNoDump(t *testing.T) {
	d := decode(t, []byte("INFO started\nINFO stopped\n"), []byte(shot("2026-07-24 15:00:00", asleep)))
	assert.Len(t, d.Sessions, 1)
	require.Len(t, d.Problems, 1)
	assert.Equal(t, "0.txt (byte 0): no thread dump in this text; want the output of jstack, jcmd Thread.print or Thread.dump_to_file, or a log in which "+
		"a JVM printed one after kill -3", d.Problems[0].Error())
}

// FuzzDecode checks that a decoder fulfills its contract for any text, and that the way a text is split does not matter.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(shot("2026-07-24 15:00:00", asleep)), uint16(7))
	f.Add([]byte(prefixed(shot("2026-07-24 15:00:00", runs))), uint16(1))
	f.Add(encoded(shot("2026-07-24 15:00:00", runs)+shot("2026-07-24 15:00:01", asleep)), uint16(3))
	f.Add([]byte("7\n2026-11-29T20:59:52.6Z\n25\n\n#3 \"main\" TIMED_WAITING\n    at java.base/java.lang.Thread.sleep(Thread.java:540)\n"), uint16(9))
	f.Add([]byte("\"a\" Id=3 BLOCKED on java.lang.Object@1b owned by \"b\" Id=4\n\tat a.B.c(B.java)\n\t-  blocked on java.lang.Object@1b\n\n\"b\" Id=4 RUNNABLE\n"), uint16(2))
	f.Add([]byte("Full thread dump\n\"a\nb\" #1 tid=0x1 nid=0x1 runnable\n- waiting on the Class initialization monitor for a.B\n\nFound one Java-level deadlock:\nwhich is held by \"a\"\n"), uint16(5))
	for _, text := range []string{jdk21, jdk27, jolokia, core(0, "", coreThread(10, "a", "B", entersLeft)), core(0, "3LKMONOBJECT       A@0x1: owner \"b\" (0xB)\n3LKWAITER \"a\" (0xA)", "")} {
		f.Add([]byte(text), uint16(4))
	}
	f.Fuzz(func(t *testing.T, text []byte, piece uint16) {
		opts := recording.Options{File: "x", MaxRecord: 1 << 20}
		whole, stats, err := threadtest.Decode(&format, opts, text, 0)
		threadtest.CheckDecoded(t, "whole", whole, stats, err)
		cut, stats, err := threadtest.Decode(&format, opts, text, int(piece))
		threadtest.CheckDecoded(t, "in pieces", cut, stats, err)
		if len(whole.Events) != len(cut.Events) || len(whole.Problems) != len(cut.Problems) {
			t.Errorf("whole: %d events and %v; in pieces of %d bytes: %d and %v", len(whole.Events), whole.Problems, piece, len(cut.Events), cut.Problems)
		}
		if n := len(whole.Events); n > 8*(bytes.Count(text, []byte("\n"))+bytes.Count(text, []byte("{")))+64 {
			t.Errorf("%d events of %d bytes", n, len(text))
		}
		opts.MaxRecord = 64 // the limit makes results depend on the split, but not the contract
		short, stats, err := threadtest.Decode(&format, opts, text, int(piece))
		threadtest.CheckDecoded(t, "short", short, stats, err)
	})
}
