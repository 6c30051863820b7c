// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func TestFrameRoundTrip(t *testing.T) {
	for text, want := range map[string]jvmthread.Frame{
		"at com.acme.OrderBook.add(OrderBook.java:42)":    {Class: "com.acme.OrderBook", Method: "add", File: "OrderBook.java", Line: 42},
		"at java.lang.Object.wait0(Native Method)":        {Class: "java.lang.Object", Method: "wait0", Line: -1},
		"at a.B.<init>(Unknown Source)":                   {Class: "a.B", Method: "<init>"},
		"at a.B.c(B.java)":                                {Class: "a.B", Method: "c", File: "B.java"},
		"at a.B.c(odd:name.kt:7)":                         {Class: "a.B", Method: "c", File: "odd:name.kt", Line: 7},
		"at unknown(Unknown Source)":                      {Method: "unknown"},
		"at a.B$$Lambda/0x00007f1.run(B.java:2147483647)": {Class: "a.B$$Lambda/0x00007f1", Method: "run", File: "B.java", Line: 2147483647},
	} {
		f, ok := ParseFrame(text)
		if !ok || f != want {
			t.Errorf("%s: have %+v, %t", text, f, ok)
			continue
		}
		function := f.Method
		if f.Class != "" {
			function = f.Function()
		}
		var stack StackBuilder
		stack.Add(function, f.File, f.Line)
		if back := stack.End(false); back != text {
			t.Errorf("have %s, want %s", back, text)
		}
	}
	for _, text := range []string{"", Truncated, "at a.B.c", "at a.B.c(", "x)", "- lock Inventory.lock", "- lock Inventory.rw.readLock()"} {
		if f, ok := ParseFrame(text); ok {
			t.Errorf("%q is not a frame, but was parsed as %+v", text, f)
		}
	}
}

func TestLockName(t *testing.T) {
	var stack StackBuilder
	stack.Add("jdk.internal.misc.Unsafe.park", "Unsafe.java", -1)
	stack.Add("com.acme.Inventory.take", "Inventory.java", 42)
	stack.AddLock("Inventory.rw.readLock()")
	stack.Add("com.acme.Main.main", "Main.java", 7)
	stack.AddLock("second")
	text := stack.End(true)
	const want = "at jdk.internal.misc.Unsafe.park(Native Method)\nat com.acme.Inventory.take(Inventory.java:42)\n" +
		"- lock Inventory.rw.readLock()\nat com.acme.Main.main(Main.java:7)\n- lock second\n..."
	if text != want {
		t.Errorf("have %s, want %s", text, want)
	}
	if name := LockName(text); name != "Inventory.rw.readLock()" {
		t.Errorf("the lock is named %q", name)
	}
	for _, none := range []string{"", Truncated, "at a.B.c(B.java:1)\nat a.B.d(B.java:2)"} {
		if name := LockName(none); name != "" {
			t.Errorf("%q: the lock is named %q", none, name)
		}
	}
}

func TestUnfitLockNamesAreLeftOut(t *testing.T) {
	for _, name := range []string{"", "a\nb", "a\rb", strings.Repeat("x", maxLockName+1)} {
		var stack StackBuilder
		stack.Add("a.B.c", "B.java", 1)
		stack.AddLock(name)
		if text := stack.End(false); text != "at a.B.c(B.java:1)" {
			t.Errorf("%q: have %s", name, text)
		}
	}
}
