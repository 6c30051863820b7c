// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// names returns the different names of the spans of a history in which each of many threads waits for a lock of a class of its own.
func names(t *testing.T, locks int, contended bool) map[string]int {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, "1 owner threadStart")
	for i := range locks {
		fmt.Fprintf(&b, "1 t%d threadStart\n", i)
	}
	for i := range locks {
		if contended {
			fmt.Fprintf(&b, "%d t%d contendedEnter lock=Lock%dx owner=owner\n", 1000*(i+1), i, i)
			continue
		}
		fmt.Fprintf(&b, "%d t%d wait lock=Queue%dx\n", 1000*(i+1), i, i)
	}
	for i := range locks {
		if contended {
			fmt.Fprintf(&b, "%d t%d contendedEntered lock=Lock%dx\n", 1_000_000+1000*i, i, i)
		}
	}
	fmt.Fprintln(&b, "3000000 owner threadEnd")
	all := map[string]int{}
	for _, s := range traceOf(t, b.String(), "", false).All() {
		all[s.Name()]++
	}
	return all
}

// Jaeger lists the names of a service's spans in its search form, and span metrics make a series of each.
func TestNamesAreFew(t *testing.T) {
	few := names(t, 3, true)
	for _, want := range []string{"thread", "blocked Lock0x", "blocked Lock1x", "blocked Lock2x", "critical path", "critical path: runnable"} {
		if few[want] == 0 {
			t.Errorf("no span is named %q: %v", want, few)
		}
	}
	if few["thread"] != 4 {
		t.Errorf("%d of 4 threads", few["thread"])
	}
	many, others := names(t, 300, true), names(t, 300, false)
	if len(many) > 18 || many["blocked"] != 300-10 || many["thread"] != 301 {
		t.Errorf("%d names, %d of 290 waits without the lock, %d of 301 threads", len(many), many["blocked"], many["thread"])
	}
	if len(others) > 13 || others["wait"] != 300-5 {
		t.Errorf("%d names, %d of 295 waits without the object", len(others), others["wait"])
	}
}

// However many locks have names already, one that threads waited for long gets one.
func TestLocksThatCostGetNames(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "1 t%d threadStart\n", i)
	}
	b.WriteString("1 owner threadStart\n")
	for i := range 100 {
		took := 1000
		if i >= 60 {
			took = 10_000_000
		}
		at := 1_000_000 + i*20_000_000
		fmt.Fprintf(&b, "%d t%d contendedEnter lock=Lock%dx owner=owner\n%d t%d contendedEntered lock=Lock%dx\n", at, i, i, at+took, i, i)
	}
	all := map[string]bool{}
	for _, s := range traceOf(t, b.String(), "", false).All() {
		all[s.Name()] = true
	}
	named := 0
	for i := range 100 {
		if all[fmt.Sprintf("blocked Lock%dx", i)] {
			named++
			if i >= 10 && i < 60 {
				t.Errorf("lock %d, for which a thread waited 1 µs, has a name", i)
			}
		}
	}
	if named != 20 {
		t.Errorf("%d locks have names", named)
	}
}

func TestRootIsNamedByItsFinding(t *testing.T) {
	const threads = "1 a threadStart\n1 b threadStart\n1 c threadStart\n"
	for _, tt := range []struct{ want, history string }{
		{"threads", threads + "1000 a sleepStart\n2000 a sleepEnd\n1000000 a threadEnd\n"},
		{"threads", threads + "1000 a contendedEnter lock=Book owner=b\n9000 a contendedEntered lock=Book\n1000000 a threadEnd\n"},
		{"threads: idle", "1 a threadStart\n1000 a sleepStart\n999000 a sleepEnd\n1000000 a threadEnd\n"},
		{
			"threads: blocked Book", // the sum of the threads counts
			threads + "1000 a contendedEnter lock=Tape owner=c\n600000 a contendedEntered lock=Tape\n" +
				"600000 a contendedEnter lock=Book owner=c\n1000000 a contendedEntered lock=Book\n" +
				"1000 b contendedEnter lock=Book owner=c\n600000 b contendedEntered lock=Book\n1000000 b threadEnd\n",
		},
		{
			"threads: deadlock",
			threads + "1000 a contendedEnter lock=Book owner=b\n2000 b contendedEnter lock=Tape owner=a\n3000000000 c yield\n",
		},
	} {
		root := traceOf(t, tt.history, "", false).At(0)
		if root.Name() != tt.want || root.Kind() != ptrace.SpanKindInternal {
			t.Errorf("%v %q, want %q", root.Kind(), root.Name(), tt.want)
		}
	}
}
