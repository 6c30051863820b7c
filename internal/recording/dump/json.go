// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// jsonMarks are in the first kilobytes of each dump that is JSON, and of little else.
var jsonMarks = [][]byte{
	[]byte(`"threadContainers"`), []byte(`"dumpAllThreads`), []byte(`"blockedCount"`), []byte(`"lockOwnerId"`), []byte(`"lockedMonitors"`), []byte(`"lockedSynchronizers"`),
}

// isJSON reports whether the start of a file is that of a dump in JSON.
func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n\uFEFF")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	for _, mark := range jsonMarks {
		if bytes.Contains(head, mark) {
			return true
		}
	}
	return false
}

// maxLevels bounds the objects and arrays around a thread. Deeper ones are skipped.
const maxLevels = 16

// level is an object or array that is open.
type level struct {
	opener byte
	key    string // in its object
	name   string // of the next value in it
	named  bool
}

// jsonFile is a file of dumps in JSON, each a value at the outermost level. Only one thread is in memory at a time.
type jsonFile struct {
	*decoder

	builder builder
	levels  []level
	dump    dump // so far
	skipped span // the rest of a value that is skipped
	skips   bool
}

func newJSON(d *decoder) *jsonFile {
	return &jsonFile{decoder: d, builder: builder{symbols: d.Options.Symbols}}
}

// scan implements recording.Scan. It takes a bracket, a thread, or another value.
func (j *jsonFile) scan(text []byte, room recording.Room) int {
	if j.skips {
		n, ended := j.skipped.take(text)
		if j.skips = !ended; n > 0 {
			return n
		}
	}
	if rest := bytes.TrimLeft(text, " \t\r\n:"); len(rest) < len(text) {
		return len(text) - len(rest)
	}
	switch c := text[0]; c {
	case ',':
		j.top().named = false
		return 1
	case '}', ']':
		j.pop()
		return 1
	case '{', '[':
		if !j.isThread(c) && len(j.levels) < maxLevels {
			j.levels = append(j.levels, level{opener: c, key: j.top().name})
			return 1
		}
	}
	var value span
	n, ended := value.take(text)
	switch {
	case ended:
		j.value(text[:n])
	case room == recording.RoomMore:
		return 0
	case room == recording.RoomFull:
		j.skipped, j.skips = value, true
		j.text.Report(0, fmt.Sprintf("a thread, or another value, is longer than %d bytes, and is skipped", j.Options.MaxRecord), "the others are read")
	}
	return n
}

// top returns the innermost object or array that is open.
func (j *jsonFile) top() *level {
	if len(j.levels) == 0 {
		return &level{}
	}
	return &j.levels[len(j.levels)-1]
}

// pop ends an object or array, and with the outermost one a dump.
func (j *jsonFile) pop() {
	if len(j.levels) == 0 {
		return
	}
	if j.levels = j.levels[:len(j.levels)-1]; len(j.levels) == 0 {
		j.dump.whole = true
		j.end()
	}
}

func (j *jsonFile) end() {
	if len(j.dump.threads) > 0 {
		found := j.dump
		j.add(&found)
	}
	j.dump = dump{}
}

// finish implements source.
func (j *jsonFile) finish() {
	if len(j.levels) > 0 {
		j.text.Report(0, "the JSON ends in the middle", "the threads before are read")
	}
	j.end()
}

// isThread reports whether what a bracket begins is a thread: an object in an array "threads", in one that Jolokia answers with, or in the outermost one.
func (j *jsonFile) isThread(opener byte) bool {
	top := j.top()
	if opener != '{' || top.opener != '[' {
		return false
	}
	return top.key == "threads" || top.key == "value" || len(j.levels) == 1
}

// value takes a thread, a name, or the value of a property.
func (j *jsonFile) value(text []byte) {
	top := j.top()
	switch {
	case j.isThread(text[0]):
		j.thread(text)
	case top.opener == '{' && !top.named:
		top.named = true
		_ = json.Unmarshal(text, &top.name)
	case top.opener == '{':
		j.property(top.name, text)
	}
}

// property takes a property of a dump.
func (j *jsonFile) property(name string, text []byte) {
	var value scalar
	_ = value.UnmarshalJSON(text) // what it is not remains empty
	switch name {
	case "processId":
		j.dump.pid = processID(string(value))
	case "time":
		j.dump.at = findTime(string(value))
	case "timestamp": // in seconds, of Jolokia
		if n, err := strconv.ParseInt(string(value), 10, 32); err == nil {
			j.dump.at = jvmthread.Time(n) * 1e9
		}
	case "runtimeVersion":
		j.dump.jvm = "(" + string(value) + ")"
	}
}

// thread takes a thread.
func (j *jsonFile) thread(text []byte) {
	var m member
	var other *json.UnmarshalTypeError // of a property that has another type than in a dump
	if err := json.Unmarshal(text, &m); err != nil && !errors.As(err, &other) {
		j.text.Report(0, fmt.Sprintf("the thread is not JSON: %v", err), "check the file; the other threads are read")
		return
	}
	if t, ok := m.build(&j.builder); ok {
		j.dump.add(&t)
	}
}

// span finds the end of a value of JSON.
type span struct {
	depth           int
	quoted, escaped bool
}

// take takes the part of the value that a text has, and reports whether it ended. A number ends before what follows it.
func (s *span) take(text []byte) (n int, ended bool) {
	for i, c := range text {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = !s.quoted
			if !s.quoted && s.depth == 0 {
				return i + 1, true
			}
		case s.quoted:
		case c == '{' || c == '[':
			s.depth++
		case s.depth > 0 && (c == '}' || c == ']'):
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		case s.depth == 0 && strings.IndexByte(" \t\r\n,:}]", c) >= 0:
			return i, true
		}
	}
	return len(text), false
}
