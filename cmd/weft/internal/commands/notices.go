// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"strings"

	"go.uber.org/zap/zapcore"
)

// notices is a log whose warnings and errors are printed as sentences. With fields: message: key value, key value.
type notices func(text string)

// Enabled reports whether a level is printed.
func (notices) Enabled(level zapcore.Level) bool { return level >= zapcore.WarnLevel }

// With adds fields to further messages.
func (n notices) With(fields []zapcore.Field) zapcore.Core {
	return notices(func(text string) { n(text + described(fields)) })
}

// Check adds the log to those that get an entry.
func (n notices) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if n.Enabled(entry.Level) {
		return checked.AddCore(entry, n)
	}
	return checked
}

// Write prints an entry.
func (n notices) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	n(entry.Message + described(fields))
	return nil
}

// Sync does nothing: nothing is buffered.
func (notices) Sync() error { return nil }

// remedyOfCollector is a field that names options of the collector.
const remedyOfCollector = "remedy"

// described are fields as in a sentence.
func described(fields []zapcore.Field) string {
	encoder := zapcore.NewMapObjectEncoder()
	var words []string
	for _, field := range fields {
		field.AddTo(encoder)
		if field.Key == remedyOfCollector {
			continue
		}
		if value, ok := encoder.Fields[field.Key]; ok && field.Key != "error" {
			words = append(words, fmt.Sprintf("%s %v", strings.ReplaceAll(field.Key, "_", " "), value))
		} else if ok {
			words = append(words, fmt.Sprint(value))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}
