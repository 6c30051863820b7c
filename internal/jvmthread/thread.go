// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Thread describes a thread.
type Thread struct {
	ID      ThreadID
	Name    string
	Group   string
	Daemon  bool
	Virtual bool
	Carrier bool // virtual threads run on it

	// Foreign has what a recording says of the thread that means nothing here, for a recording of the same format: lines of name=value.
	Foreign string
}

// Frame is one frame of a call stack.
type Frame struct {
	Class  string // fully qualified, with dots: com.acme.OrderBook
	Method string
	File   string // empty if the class file does not say
	Line   int    // 0 if unknown, -1 in a native method
}

// Function returns the fully qualified name of the frame's method, as in the attribute code.function.name.
func (f Frame) Function() string { return f.Class + "." + f.Method }
