// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"fmt"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// A Classifier knows what the rules say.
func TestClassifierAgreesWithRules(t *testing.T) {
	if len(classPrefixes) > 31 {
		t.Fatalf("%d classes of rules, want at most 31: see classSet", len(classPrefixes))
	}
	sym, r := symbols.New(symbols.DefaultLimits()), NewRules(Config{})
	var classes []jvmthread.ClassID
	for _, prefix := range classPrefixes {
		classes = append(classes, sym.InternClass(prefix), sym.InternClass(prefix+"$Sync"), sym.InternClass("com."+prefix))
	}
	classes = append(classes, jvmthread.NoClass, sym.InternClass("com.acme.Lock"), 1_000_000_000)
	stacks := []jvmthread.StackID{jvmthread.NoStack, sym.InternStack(frames("com.acme.Shop.buy"))}
	for i := range rules {
		if rules[i].frame != "" {
			stacks = append(stacks, sym.InternStack(frames("java.lang.Object.wait "+rules[i].frame+"x com.acme.Shop.buy")))
		}
	}
	c := r.Of(sym)
	for _, stack := range stacks {
		for _, class := range classes {
			for _, state := range []jvmthread.State{jvmthread.StateWaiting, jvmthread.StateParked, jvmthread.StateSleeping} {
				iv := jvmthread.Interval{State: state, Lock: jvmthread.LockID{Class: class}, Stack: stack}
				if have, want := c.Wait(&iv), r.Kind(state, sym.Class(class), sym.Stack(stack)); have != want {
					t.Fatalf("%v of %q at %q: have %v, want %v", state, sym.Class(class), sym.Stack(stack), have, want)
				}
			}
		}
	}
}

func TestClassifierRemembersClassesOfTheApplicationAsOne(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	c, stack := NewRules(Config{}).Of(sym), sym.InternStack(frames("java.lang.Object.wait com.acme.Shop.buy"))
	for i := range 1000 {
		class := sym.InternClass(fmt.Sprintf("com.acme.Lock%d", i))
		if kind := c.Wait(&jvmthread.Interval{State: jvmthread.StateWaiting, Lock: jvmthread.LockID{Class: class}, Stack: stack}); kind != jvmthread.WaitObject {
			t.Fatalf("have %v", kind)
		}
	}
	if len(c.kinds) != 1 {
		t.Errorf("%d combinations are remembered, want 1", len(c.kinds))
	}
}
