// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// sites is the number of call sites of each kind of event that has a stack; there are four such kinds.
const sites = 12

// stackDepth is the number of frames of a stack, the default of the agent.
const stackDepth = 16

// Run identifies one run of a simulated JVM.
type Run struct {
	Session jvmthread.SessionID
	Secret  wire.Secret // that proves the session
	Service string
	Began   time.Time // when its clock showed Beginning
}

// NewRun returns a run that begins now.
func NewRun(service string) Run {
	r := Run{Service: service, Began: time.Now()}
	r.Secret, r.Session = wire.NewSecret()
	return r
}

// Hello returns what an agent sends before its first batch on a connection. Acked is the last batch that a receiver acknowledged.
func (s Shape) Hello(r *Run, acked uint64) []byte {
	dst := r.greeting(acked)
	for th := range s.Threads {
		dst = wire.AppendThread(dst, jvmthread.Thread{ID: jvmthread.ThreadID(th + 1), Name: fmt.Sprintf("http-exec-%d", th+1), Group: "main"})
	}
	for class := range s.Classes {
		name := fmt.Sprintf("com.acme.orders.Lock%d", class)
		if class < 2 {
			name = [...]string{"com.acme.orders.OrderBook", "com.acme.orders.OrderQueue"}[class]
		}
		dst = wire.AppendClass(dst, wire.Class{ID: jvmthread.ClassID(class + 1), Name: name})
	}
	return appendStacks(dst, jvmthread.ClassID(s.Classes+1))
}

// greeting returns the hello without definitions.
func (r *Run) greeting(acked uint64) []byte {
	return wire.AppendHello(wire.AppendPreamble(nil), &wire.Hello{
		Session: r.Session, Secret: r.Secret, Wall: r.Began.UnixNano(), Monotonic: int64(Beginning), PID: 42, Acked: acked,
		Attributes: []wire.Attribute{{Key: "service.name", Value: r.Service}, {Key: "process.runtime.name", Value: "OpenJDK Runtime Environment"}},
	})
}

// appendStacks appends the stacks of all call sites, and the methods and classes that they refer to. Class is the first unused id.
func appendStacks(dst []byte, class jvmthread.ClassID) []byte {
	method := wire.MethodID(0)
	define := func(name, function string) wire.MethodID {
		method++
		class++
		dst = wire.AppendClass(dst, wire.Class{ID: class, Name: name})
		m := &wire.Method{ID: method, Class: class, Name: function, Signature: "()V", File: "Source.java"}
		for line := range uint32(8) {
			m.Lines = append(m.Lines, wire.Line{Start: 6 * line, Number: 40 + line})
		}
		dst = wire.AppendMethod(dst, m)
		return method
	}
	outer := []wire.MethodID{define("java.util.concurrent.ThreadPoolExecutor", "runWorker"), define("java.lang.Thread", "run")}
	var middle []wire.MethodID
	for i := range stackDepth {
		middle = append(middle, define(fmt.Sprintf("com.acme.orders.Filter%d", i), "doFilter"))
	}
	stack := jvmthread.StackID(0)
	for _, inner := range [][]wire.MethodID{
		{}, {define("java.lang.Thread", "sleep")}, {define("java.lang.Object", "wait0"), define("java.lang.Object", "wait")}, {},
	} {
		for site := range sites {
			frames := make([]wire.StackFrame, 0, stackDepth)
			for _, m := range inner {
				frames = append(frames, wire.StackFrame{Method: m, BCI: -1})
			}
			caller := define(fmt.Sprintf("com.acme.orders.Handler%d", site), fmt.Sprintf("handle%d", stack))
			frames = append(frames, wire.StackFrame{Method: caller, BCI: int32(3 * site)})
			for i := range stackDepth - len(frames) - len(outer) {
				frames = append(frames, wire.StackFrame{Method: middle[(i+site)%len(middle)], BCI: int32(6 * (i % 8))})
			}
			for _, m := range outer {
				frames = append(frames, wire.StackFrame{Method: m, BCI: 20})
			}
			stack++
			dst = wire.AppendStack(dst, &wire.Stack{ID: stack, Frames: frames})
		}
	}
	return dst
}
