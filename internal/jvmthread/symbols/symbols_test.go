// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package symbols_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

func TestTextsAreStoredOnce(t *testing.T) {
	s := symbols.New(symbols.DefaultLimits())
	id := s.InternStack("at a.B.c(B.java:1)")
	if again := s.InternStack("at a.B.c(B.java:1)"); again != id || s.Stack(id) != "at a.B.c(B.java:1)" {
		t.Errorf("%d and %d: %q", id, again, s.Stack(id))
	}
	if s.InternClass("") != jvmthread.NoClass || s.Class(999) != "" || s.Thread(7).Name != "" {
		t.Error("an unknown id has a text")
	}
}

// Whichever ID is likely, a text has the same one.
func TestLikelyIDsDoNotMatter(t *testing.T) {
	s := symbols.New(symbols.Limits{Classes: 4, Stacks: 4, Bytes: 100})
	texts := []string{"", "a", "b", "", "broken \xff", "a", "c", "one too many", "b", ""}
	for _, text := range texts {
		for likely := range uint32(7) {
			if have, want := s.InternClassText([]byte(text), jvmthread.ClassID(likely)), s.InternClass(strings.ToValidUTF8(text, "\uFFFD")); have != want {
				t.Errorf("class %q, likely %d: have %d, want %d", text, likely, have, want)
			}
			if have, want := s.InternStackText([]byte(text), jvmthread.StackID(likely)), s.InternStack(strings.ToValidUTF8(text, "\uFFFD")); have != want {
				t.Errorf("stack %q, likely %d: have %d, want %d", text, likely, have, want)
			}
		}
	}
}

func TestLimitsAreEnforcedAndCounted(t *testing.T) {
	s := symbols.New(symbols.Limits{Classes: 2, Stacks: 2, Threads: 1, Bytes: 100})
	for _, name := range []string{"a", "b", "c"} {
		s.InternClass(name)
		s.InternStack(name)
	}
	if s.InternClass("c") != jvmthread.NoClass || s.InternStack("c") != jvmthread.NoStack || s.InternClass("a") == jvmthread.NoClass {
		t.Error("the limit of texts is not enforced")
	}
	if s.SetThread(jvmthread.Thread{ID: 1, Name: "one"}); s.SetThread(jvmthread.Thread{ID: 2}) || !s.SetThread(jvmthread.Thread{ID: 1, Name: "uno"}) {
		t.Error("the limit of threads is not enforced, or a thread cannot be renamed")
	}
	if got := s.Refused(); got != 5 {
		t.Errorf("%d refused, want 5", got)
	}
	s = symbols.New(symbols.Limits{Classes: 10, Stacks: 10, Threads: 1, Bytes: 100})
	if s.InternStack(strings.Repeat("x", 90)) == jvmthread.NoStack || s.InternStack(strings.Repeat("y", 90)) != jvmthread.NoStack {
		t.Error("the limit of bytes is not enforced")
	}
	if !s.SetThread(jvmthread.Thread{ID: 1, Name: "four"}) || s.SetThread(jvmthread.Thread{ID: 1, Name: "four", Group: "seven.."}) || !s.SetThread(jvmthread.Thread{ID: 1, Group: "five."}) {
		t.Error("thread names do not count, or a replaced name still counts")
	}
	s.DropThread(1)
	s.DropThread(1)
	if !s.SetThread(jvmthread.Thread{ID: 1, Name: "ten bytes."}) || s.Thread(1).Name != "ten bytes." {
		t.Error("a dropped thread still counts")
	}
}

func TestLongTextIsTruncated(t *testing.T) {
	s := symbols.New(symbols.DefaultLimits())
	huge := strings.Repeat("ä", 1<<20)
	id := s.InternStack(huge)
	n := len(s.Stack(id))
	if n == 0 || n > 1<<16 || s.InternStack(huge) != id {
		t.Errorf("%d bytes are stored, as %d and %d", n, id, s.InternStack(huge))
	}
	if s.SetThread(jvmthread.Thread{ID: 1, Name: huge}); len(s.Thread(1).Name) != n {
		t.Errorf("%d bytes of a name are stored", len(s.Thread(1).Name))
	}
}

// The end of many virtual threads is never reported. The least recently used ones are evicted, never a platform thread.
func TestVirtualThreadsWithoutEndAreEvicted(t *testing.T) {
	s := symbols.New(symbols.Limits{Threads: 10, Bytes: 1 << 20})
	empty := s.Held()
	name := func(id jvmthread.ThreadID) string { return fmt.Sprintf("virtual-%d", id) }
	if !s.SetThread(jvmthread.Thread{ID: 1, Name: "main"}) {
		t.Fatal("main is refused")
	}
	for id := jvmthread.ThreadID(100); id < 10_000; id++ {
		if !s.SetThread(jvmthread.Thread{ID: id, Name: name(id), Virtual: true}) {
			t.Fatalf("thread %d is refused", id)
		}
		for back := range jvmthread.ThreadID(9) {
			if id-back >= 100 && s.Thread(id-back).Name != name(id-back) {
				t.Fatalf("at %d, thread %d was evicted", id, id-back)
			}
		}
		if s.Thread(100).Name != name(100) {
			t.Fatalf("at %d, thread 100 was evicted although it is in constant use", id)
		}
		if most := empty + 21*(160+len(name(id))); s.Held() > most {
			t.Fatalf("at %d, got %d bytes, want at most %d", id, s.Held(), most)
		}
	}
	if s.Thread(200).Name != "" || s.Thread(1).Name != "main" || s.Refused() != 0 || s.Turns() == 0 {
		t.Error("the wrong threads were evicted")
	}
	for id := range jvmthread.ThreadID(10_000) {
		s.DropThread(id)
	}
	if s.Held() != empty {
		t.Errorf("%d bytes remain, want %d", s.Held(), empty)
	}
}
