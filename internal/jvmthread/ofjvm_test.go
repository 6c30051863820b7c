// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func TestThreadsOfTheJVM(t *testing.T) {
	for _, name := range []string{"Reference Handler", "C2 CompilerThread12", "Cleaner-0", "G1 Conc#0", "JIT Compilation Thread-003", "process reaper (pid 7)"} {
		assert.True(t, jvmthread.Thread{Name: name}.OfJVM(), name)
		assert.False(t, jvmthread.Thread{Name: name, Group: "main"}.OfJVM(), "%s of an application", name)
	}
	for _, name := range []string{"", "main", "Finalizer-7", "http-nio-8080-exec-1", "Cleaner", "G1"} {
		assert.False(t, jvmthread.Thread{Name: name}.OfJVM(), name)
	}
	assert.True(t, jvmthread.Thread{Name: "SIGTERM handler", Group: "system"}.OfJVM())
	assert.True(t, jvmthread.Thread{Name: "DestroyJavaVM", Group: "main"}.OfJVM())
}
