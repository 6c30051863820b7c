// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"fmt"
	"slices"
)

// foreignJSON lists files in JSON that people take for recordings, by texts at their start.
var foreignJSON = [...]struct {
	is, remedy string
	marks      []string
}{
	{"an index of Spring's actuator", `give the answer of its "threaddump"`, []string{`"_links"`}},
	{"an error of a server", onlyJVMs, []string{`"status"`, `"error"`}},
	{"a flight recording printed by jfr print", "give the .jfr file", []string{`"recording"`, `"events"`}},
	{"a trace for the viewer of Chrome", onlyJVMs, []string{`"traceEvents"`}},
	{"a trace for the viewer of Chrome", onlyJVMs, []string{`"ph"`}},
	{"a profile of speedscope", onlyJVMs, []string{"speedscope"}},
	{"a file of Jaeger's traces", otlpOnly, []string{`"traceID"`, `"spans"`}},
	{"a file of Tempo's traces", otlpOnly, []string{`"batches"`}},
	{"a file of OTLP metrics", onlyJVMs, []string{`"resourceMetrics"`}},
	{"a file of OTLP log records", onlyJVMs, []string{`"resourceLogs"`}},
	{"a file of OTLP profiles", onlyJVMs, []string{`"resourceProfiles"`}},
	{"a log", "give the text of a thread dump", []string{`"level"`, `"message"`}},
}

const otlpOnly = "weft reads spans as OTLP, as a collector's file exporter writes them"

// isJSON reports whether a text begins an object, or an array of them: lines of logs may begin with "[INFO]".
func isJSON(text []byte) bool {
	text, _ = bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n\uFEFF"), []byte("["))
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
}

// unknownJSON returns the error for a file in JSON.
func unknownJSON(head []byte) error {
	for i := range foreignJSON {
		f := &foreignJSON[i]
		if !slices.ContainsFunc(f.marks, func(mark string) bool { return !bytes.Contains(head, []byte(mark)) }) {
			return &Foreign{f.is, f.remedy}
		}
	}
	return &Foreign{"JSON, but neither spans nor a thread dump", fmt.Sprintf(
		"want {%q: at its start, or the output of Thread.dump_to_file or of Spring's actuator", "resourceSpans")}
}
