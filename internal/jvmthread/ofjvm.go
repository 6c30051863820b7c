// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import "strings"

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

// OfJVM reports whether a thread of this name belongs to the JVM itself. Java does not say: the list is that of HotSpot and OpenJ9.
func OfJVM(name string) bool {
	if ofJVM[name] {
		return true
	}
	for _, begin := range ofJVMNumbered {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}
