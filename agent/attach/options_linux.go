// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"slices"
	"strings"
)

// variables are the environment variables that hold JVM options. The java launcher reads the first one (JDK 9 and later), HotSpot the others.
var variables = []string{"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"}

// has reports whether the JVM runs with a flag. Flags from an options file (@file, -XX:VMOptionsFile) are only in the counters: has misses
// them if the JVM has none.
func (p *process) has(flag string) bool {
	return slices.Contains(p.words, flag) || slices.Contains(p.options, flag)
}

// readOptions returns the options in the environment and the counters. It must run before asUser: as the JVM's user with this program's real
// user, the kernel does not permit to read the environment.
func (p *process) readOptions() []string {
	environment, _ := p.read("environ") // if it fails, the counters remain
	return append(optionsIn(environment), strings.Fields(p.counters[vmArguments])...)
}

// optionsIn returns the words of the options in /proc/PID/environ.
func optionsIn(environment []byte) (words []string) {
	for variable := range strings.SplitSeq(string(environment), "\x00") {
		if name, value, _ := strings.Cut(variable, "="); slices.Contains(variables, name) {
			words = append(words, strings.Fields(value)...)
		}
	}
	return words
}

// readCounters returns some of HotSpot's counters: none if the JVM runs with -XX:-UsePerfData or -XX:+PerfDisableSharedMem.
func (p *process) readCounters() map[string]string {
	data, err := p.readInside(p.images.perfData, maxPerfData)
	if err != nil {
		return nil
	}
	counters, _ := parsePerfData(data, javaCommand, javaVersion, vmArguments) // it fails while the JVM is starting
	return counters
}
