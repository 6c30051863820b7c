// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import (
	"slices"
	"strings"
)

// OfJVM reports whether the thread belongs to the JVM itself. No application waits for such a thread. Its group says so; where that is not
// known, as in some recordings, its name does.
func (t Thread) OfJVM() bool {
	switch t.Group {
	case "system", "InnocuousThreadGroup":
		return true
	case "":
		return namedByJVM(t.Name)
	}
	return t.Name == "DestroyJavaVM" || strings.HasPrefix(t.Name, "JFR ") // takes the place of the main thread; is in its group
}

// ofJVM are the names of threads that HotSpot or OpenJ9 start for themselves.
var ofJVM = map[string]bool{
	"Reference Handler": true, "Finalizer": true, "Signal Dispatcher": true, "Service Thread": true, "Monitor Deflation Thread": true,
	"Notification Thread": true, "Common-Cleaner": true, "Attach Listener": true, "DestroyJavaVM": true, "Sweeper thread": true,
	"process reaper": true, "VM Thread": true, "VM Periodic Task Thread": true, "Surrogate Locker Thread (Concurrent GC)": true,
	"JFR Recorder Thread": true, "JFR Periodic Tasks": true, "JFR Recording Scheduler": true, "JFR Shutdown Hook": true,
	"VirtualThread-unparker": true, "VirtualThread-unblocker": true, "Read-Poller": true, "Write-Poller": true,
	"Finalizer thread": true, "JIT Sampler": true, "IProfiler": true, "Attach API wait loop": true, "Attach API initializer": true,
}

// ofJVMNumbered are what the names of such threads begin with that are numbered, or have suffixes.
var ofJVMNumbered = []string{
	"C1 CompilerThread", "C2 CompilerThread", "JVMCI CompilerThread", "JVMCI-native CompilerThread", "Cleaner-", "GC Thread#", "G1 ",
	"GC Worker", "Concurrent Mark Helper", "JIT Compilation Thread-", "process reaper (",
}

func namedByJVM(name string) bool {
	return ofJVM[name] || slices.ContainsFunc(ofJVMNumbered, func(begin string) bool { return strings.HasPrefix(name, begin) })
}
