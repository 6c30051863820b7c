// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strconv"
	"strings"
)

// frame is a line of a stack.
type frame struct {
	function string // class and method
	file     string
	line     int // -1: native
}

// parseFrame parses what follows "at ": "java.lang.Object.wait(java.base@17.0.15/Object.java:389)", "java.base/java.lang.Object.wait(Object.java:389)".
func parseFrame(text string) (f frame, ok bool) {
	open := strings.IndexByte(text, '(')
	end := strings.LastIndexByte(text, ')')
	if open <= 0 || end < open {
		return f, false
	}
	f.function = withoutModule(strings.TrimSpace(text[:open]))
	dot := strings.LastIndexByte(f.function, '.')
	if dot <= 0 || strings.ContainsAny(f.function, " \t\"") {
		return f, false
	}
	source := text[open+1 : end]
	source = source[strings.LastIndexByte(source, '/')+1:]
	switch source {
	case "Native Method":
		f.line = -1
	case "Unknown Source", "":
	default:
		f.file = source
		if colon := strings.LastIndexByte(source, ':'); colon > 0 {
			if n, err := strconv.ParseInt(source[colon+1:], 10, 32); err == nil && n > 0 {
				f.file, f.line = source[:colon], int(n)
			} else if n == -1 { // of a debugger
				f.file, f.line = "", -1
			}
		}
	}
	return f, true
}

// withoutModule removes the class loader and the module from a name: "app//com.acme.Shop.run", "java.base@21/java.lang.Thread.run". The name of a
// hidden class has a slash, too: "Shop$$Lambda/0x00007f1.run".
func withoutModule(name string) string {
	for {
		slash := strings.IndexByte(name, '/')
		if slash < 0 || strings.HasPrefix(name[slash+1:], "0x") || strings.Contains(name[:slash], "$$") {
			return name
		}
		name = name[slash+1:]
	}
}

// initializer is the method that initializes a class.
const initializer = ".<clinit>"

// top is the functions of the innermost frames of a stack, which say what the thread does.
type top struct {
	functions [4]string
	native    bool
}

func (t *top) add(f *frame, n int) {
	if n < len(t.functions) {
		t.functions[n] = f.function
	}
	if n == 0 {
		t.native = f.line == -1
	}
}

// waits reports whether the thread is in Object.wait, and whether it is there to join another one.
func (t *top) waits() (waits, joins bool) {
	for _, function := range t.functions {
		switch function {
		case "java.lang.Object.wait", "java.lang.Object.wait0", "java.lang.Object.waitImpl":
			waits = true
		case "java.lang.Thread.join":
			return waits, waits
		default:
			return waits, false
		}
	}
	return waits, false
}

func (t *top) parks() bool {
	f := t.functions[0]
	return strings.HasSuffix(f, ".Unsafe.park") || strings.HasPrefix(f, "java.lang.VirtualThread.park") ||
		strings.HasPrefix(f, "java.lang.VirtualThread.yieldContinuation")
}

func (t *top) sleeps() bool { return strings.HasPrefix(t.functions[0], "java.lang.Thread.sleep") }

// callers are the classes of the JDK, and of libraries, whose native methods wait: the JVM calls such a thread runnable.
var callers = []string{
	"sun.nio.ch.", "java.net.SocketInputStream.", "java.net.SocketOutputStream.", "java.net.PlainSocketImpl.", "java.net.DualStackPlainSocketImpl.",
	"java.net.TwoStacksPlainSocketImpl.", "java.net.PlainDatagramSocketImpl.", "java.net.Inet4AddressImpl.", "java.net.Inet6AddressImpl.",
	"java.io.FileInputStream.read", "java.io.FileOutputStream.write", "java.io.RandomAccessFile.read", "java.io.RandomAccessFile.write",
	"java.lang.ProcessHandleImpl.waitFor", "java.lang.UNIXProcess.waitFor", "io.netty.channel.epoll.Native.", "io.netty.channel.kqueue.Native.",
	"com.ibm.io.async.AsyncLibrary.",
}

// calls reports whether the thread is in a native method that waits for data, a connection or a process.
func (t *top) calls() bool {
	if !t.native {
		return false
	}
	for _, prefix := range callers {
		if strings.HasPrefix(t.functions[0], prefix) {
			return true
		}
	}
	return false
}
