// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"fmt"
	"strings"
	"testing"
)

func codeOf(t *Table, text string, frames int) (all []string) {
	code := t.Code(t.InternStack(text))
	for range frames {
		descriptor, index, ok := code.Next()
		all = append(all, fmt.Sprintf("%d %s %t", index, descriptor, ok))
	}
	return all
}

func TestCodeOfFrames(t *testing.T) {
	var stack StackBuilder
	for range 2 { // it is reused
		stack.Begin()
		stack.Add("java.lang.Object.wait0", "", -1)
		stack.AddCode("(J)V", -1)
		stack.AddLock("Inventory.lock")
		stack.Add("unknown", "", 0)
		stack.Add("com.acme.A.b", "A.java", 3)
		stack.AddCode("(Ljava/lang/String;I)[J", 17)
		stack.Add("com.acme.A.main", "A.java", 9)
		stack.AddCode("", 4)
		stack.AddCode("(\n)V", 4)
	}
	whole := stack.End(true)
	const text = "at java.lang.Object.wait0(Native Method)\n- lock Inventory.lock\nat unknown(Unknown Source)\nat com.acme.A.b(A.java:3)\n" +
		"at com.acme.A.main(A.java:9)\n..."
	table := New(DefaultLimits())
	id := table.InternStack(whole)
	if table.Stack(id) != text || table.Whole(id) != whole || whole != text+"\n--\n-1 (J)V\n\n17 (Ljava/lang/String;I)[J" {
		t.Errorf("have %q of %q", table.Stack(id), whole)
	}
	const none = "0  false"
	want := fmt.Sprint([]string{"-1 (J)V true", none, "17 (Ljava/lang/String;I)[J true", none, none})
	if got := fmt.Sprint(codeOf(table, whole, 5)); got != want {
		t.Errorf("have %s, want %s", got, want)
	}
	for _, other := range []string{"", text, text + "\n--", text + "\n--\n", text + "\n--\nx ()V", text + "\n--\n-2 ()V", text + "\n--\n3 ", text + "\n--\n99999999999 ()V"} {
		if got := codeOf(table, other, 1); got[0] != none {
			t.Errorf("%q has code %s", other, got)
		}
	}
	if table.Stack(1<<20) != "" || table.Whole(1<<20) != "" {
		t.Error("an unknown stack has a text")
	}
}

// A stack that is too long is cut; the descriptor of a method never is.
func TestCodeThatDoesNotFitIsLeftOut(t *testing.T) {
	var stack StackBuilder
	for range 400 {
		stack.Add("com.acme.A.b", "A.java", 3)
		stack.AddCode("("+strings.Repeat("J", 150)+")V", 1)
	}
	if text := stack.End(false); len(text) > maxText || strings.Contains(text, "\n--") {
		t.Errorf("a stack of %d bytes", len(text))
	}
}

// Descriptors that cannot fit must not pile up in memory either: they would be 64 MiB here.
func TestCodeThatCannotFitIsNotCollected(t *testing.T) {
	var stack StackBuilder
	long := strings.Repeat("J", maxText-1)
	for range maxFrames {
		stack.Add("a.B.c", "B.java", 1)
		stack.AddCode(long, 1)
	}
	if n := len(stack.code); n > 3*maxText {
		t.Errorf("%d bytes", n)
	}
	stack.End(false)
	stack.Begin()
	if n := cap(stack.code) + cap(stack.text); n > 0 {
		t.Errorf("keeps %d bytes for the next stack", n)
	}
}
