// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Hello opens a connection.
type Hello struct {
	Session    jvmthread.SessionID
	Wall       int64 // nanoseconds since the Unix epoch ...
	Monotonic  int64 // ... at this reading of the monotonic clock
	Acked      uint64
	PID        uint32
	Attributes []Attribute // of the resource
	Secret     Secret      // proves the session; zero: none
	Headers    Headers
}

// Clock is a reading of both clocks after the hello.
type Clock struct {
	Wall      int64 // nanoseconds since the Unix epoch ...
	Monotonic int64 // ... at this reading of the monotonic clock
}

// Check returns an error if a time is out of range, so that differences do not overflow.
func (c Clock) Check() error {
	for _, t := range [...]int64{c.Wall, c.Monotonic} {
		if t < 0 || t > int64(jvmthread.Latest) {
			return fmt.Errorf("clock: time is %d, want 0 to %d", t, int64(jvmthread.Latest))
		}
	}
	return nil
}

// Attribute is a resource attribute or an option.
type Attribute struct{ Key, Value string }

// Class defines a class.
type Class struct {
	ID   jvmthread.ClassID
	Name string
}

// MethodID identifies a method within one session.
type MethodID uint32

// Method defines a method.
type Method struct {
	ID        MethodID
	Class     jvmthread.ClassID
	Name      string
	Signature string
	File      string
	Lines     []Line // ascending by Start
}

// Line is the source line of the bytecode from index Start on.
type Line struct{ Start, Number uint32 }

// Stack defines a call stack.
type Stack struct {
	ID        jvmthread.StackID
	Truncated bool
	Frames    []StackFrame // innermost first
	Lock      string       // how the source names the lock that a frame takes; empty: not known
	LockFrame uint16       // index of that frame
}

// StackFrame is a place in a method.
type StackFrame struct {
	Method MethodID
	BCI    int32 // -1 in a native method
}

// BatchHeader precedes the sections of a batch. The watermark, like all times in this package, is a time of the JVM's monotonic clock.
type BatchHeader struct {
	Sequence  uint64
	Watermark jvmthread.Time
	Before    uint64 // events in all earlier batches
}

// Section contains the events of one thread in a batch. Writers ignore Event.Thread.
type Section struct {
	Thread jvmthread.ThreadID
	Events []jvmthread.Event
}

// End closes a session.
type End struct {
	Time   jvmthread.Time
	Reason EndReason
}

// Control requests the agent to change options or to perform an action. Its keys are the agent's options (agent/README.md).
type Control struct {
	ID      uint32 // chosen by the receiver, and repeated in the status that answers it
	Options []Attribute
}

// Status answers the control of the same id.
type Status struct {
	ID      uint32
	Error   string      // one line with the key and the remedy, if the control was not applied; empty on success
	Options []Attribute // current values of all options that can be changed
}

// Refuse is the reason why a receiver closes a connection.
type Refuse struct {
	Code    RefuseCode
	Message string
}
