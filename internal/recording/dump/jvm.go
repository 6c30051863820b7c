// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// jvm is what a title says: "OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing)".
type jvm struct{ name, version string }

func jvmOf(title string) jvm {
	name, rest, _ := strings.Cut(title, "(")
	if strings.HasPrefix(rest, "TM)") { // Java HotSpot(TM) 64-Bit Server VM (25.5-b02 mixed mode)
		var more string
		more, rest, _ = strings.Cut(rest[len("TM)"):], "(")
		name += "(TM)" + more
	}
	version, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(rest), ")"), " ")
	return jvm{strings.TrimSpace(name), javaVersion(version)}
}

// javaVersion returns the version of Java for that of HotSpot, which had numbers of its own up to Java 8: 25.91-b14 is 1.8.0_91.
func javaVersion(version string) string {
	number, _, ok := strings.Cut(version, "-b")
	major, update, two := strings.Cut(number, ".")
	if n, err := strconv.Atoi(update); !ok || !two || err != nil {
		return version
	} else if java := map[string]string{"24": "1.7.0_", "25": "1.8.0_"}[major]; java != "" {
		return java + strconv.Itoa(n)
	}
	return version
}

// attributes describe the JVM of a history.
func (h *history) attributes(table stacks) (list []wire.Attribute) {
	add := func(name, value string) {
		if value != "" {
			list = append(list, wire.Attribute{Key: name, Value: value})
		}
	}
	for _, d := range h.dumps {
		if name := d.program(table); name != "" {
			add("service.name", name)
			break
		}
	}
	for _, d := range h.dumps {
		if of := jvmOf(d.jvm); of.version != "" {
			add("process.runtime.name", of.name)
			add("process.runtime.version", of.version)
			break
		}
	}
	return list
}

// stacks has the texts of stacks.
type stacks interface {
	Stack(id jvmthread.StackID) string
}

// program returns the class whose main method runs.
func (d *dump) program(table stacks) string {
	for i := range d.threads {
		if d.threads[i].name != "main" {
			continue
		}
		stack := table.Stack(d.threads[i].stack)
		last := stack[strings.LastIndexByte(stack, '\n')+1:]
		if f, ok := parseFrame(strings.TrimPrefix(last, "at ")); ok {
			if class, ok := strings.CutSuffix(f.function, ".main"); ok {
				return class[strings.LastIndexByte(class, '.')+1:]
			}
		}
	}
	return ""
}
