// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package logs answers: how does what JVMs, files and strangers choose reach a log: their texts, and how often they cause a line?
//
// zap's encoders escape what JSON must escape, but neither the controls U+007F to U+009F, one of which begins a command to a terminal, nor
// characters that reorder or hide text. The collector samples its log by default, but drops lines without a count, and a hundredth of a
// flood is still one.
package logs

import (
	"fmt"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/weft-otel/weft/internal/printable"
)

// Guarded returns a logger for lines that others cause: see Escaped and Summed.
func Guarded(logger *zap.Logger) *zap.Logger { return Summed(Escaped(logger)) }

// Escaped returns a logger whose messages and fields have no hidden characters.
func Escaped(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(to zapcore.Core) zapcore.Core { return core{to} }))
}

type core struct{ zapcore.Core }

func (c core) With(fields []zapcore.Field) zapcore.Core { return core{c.Core.With(escaped(fields))} }

func (c core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if accepted := c.Core.Check(entry, nil); accepted != nil { // asked once, because samplers count
		return checked.AddCore(entry, writing{c.Core, accepted})
	}
	return checked
}

// writing writes one entry to what accepted it.
type writing struct {
	zapcore.Core
	accepted *zapcore.CheckedEntry
}

func (w writing) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	entry.Message = printable.Text(entry.Message)
	w.accepted.Entry = entry // with its caller, which was not known before
	w.accepted.Write(escaped(fields)...)
	return nil
}

// escaped returns the fields in a new slice.
func escaped(fields []zapcore.Field) []zapcore.Field {
	all := make([]zapcore.Field, len(fields))
	for i, field := range fields {
		field.String = printable.Text(field.String)
		switch value := field.Interface.(type) {
		case error:
			field.Interface = cause{value}
		case zapcore.ArrayMarshaler:
			field.Interface = array{value}
		case fmt.Stringer:
			if field.Type == zapcore.StringerType {
				field.Interface = stringer{value}
			}
		}
		all[i] = field
	}
	return all
}

type cause struct{ err error }

func (c cause) Error() string { return printable.Text(c.err.Error()) }
func (c cause) Unwrap() error { return c.err }

type stringer struct{ value fmt.Stringer }

func (s stringer) String() string { return printable.Text(s.value.String()) }

type array struct{ of zapcore.ArrayMarshaler }

func (a array) MarshalLogArray(to zapcore.ArrayEncoder) error {
	return a.of.MarshalLogArray(elements{to})
}

type elements struct{ zapcore.ArrayEncoder }

func (e elements) AppendString(text string) { e.ArrayEncoder.AppendString(printable.Text(text)) }
