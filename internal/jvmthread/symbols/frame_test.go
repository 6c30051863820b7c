// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package symbols

import (
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
	for _, text := range []string{"", Truncated, "at a.B.c", "at a.B.c(", "x)"} {
		if f, ok := ParseFrame(text); ok {
			t.Errorf("%q is not a frame, but was parsed as %+v", text, f)
		}
	}
}
