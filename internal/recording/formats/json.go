// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"fmt"
)

// foreign is what files in JSON are that people take for recordings, with the texts that they have at their start.
var foreign = []struct {
	what  string
	marks []string
}{
	{`an index of Spring's actuator: want its "threaddump"`, []string{`"_links"`}},
	{"an error of a server", []string{`"status"`, `"error"`}},
	{"a flight recording printed by jfr print: want the .jfr file", []string{`"recording"`, `"events"`}},
	{"a trace of Perfetto or Chrome", []string{`"traceEvents"`}},
	{"a profile of speedscope", []string{"speedscope"}},
	{"traces of Jaeger: want OTLP, as of a file exporter", []string{`"traceID"`, `"spans"`}},
	{"traces of Tempo: want OTLP, as of a file exporter", []string{`"batches"`}},
	{"metrics of OTLP", []string{`"resourceMetrics"`}},
	{"log records of OTLP", []string{`"resourceLogs"`}},
	{"profiles of OTLP", []string{`"resourceProfiles"`}},
	{"a log: want the text of a thread dump", []string{`"level"`, `"message"`}},
}

// isJSON reports whether a text begins an object, or an array of them: lines of logs may begin with "[INFO]".
func isJSON(text []byte) bool {
	text, _ = bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n\uFEFF"), []byte("["))
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
}

// unknownJSON returns the error for a file in JSON.
func unknownJSON(head []byte) error {
	for i := range foreign {
		has := true
		for _, mark := range foreign[i].marks {
			has = has && bytes.Contains(head, []byte(mark))
		}
		if has {
			return fmt.Errorf("%w: the file is JSON, and looks like %s", ErrUnknown, foreign[i].what)
		}
	}
	return fmt.Errorf("%w: the file is JSON, but neither spans nor a thread dump: want {%q: at its start, or the output of Thread.dump_to_file or of Spring's actuator",
		ErrUnknown, "resourceSpans")
}
