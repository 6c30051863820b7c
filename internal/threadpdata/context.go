// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/hex"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func (c *Carrier) parseContext(event ptrace.SpanEvent) error {
	var span jvmthread.SpanContext
	for key, value := range event.Attributes().All() {
		var err error
		switch key {
		case attrEventTraceID:
			err = digits(value, span.TraceID[:])
		case attrEventSpanID:
			err = digits(value, span.SpanID[:])
		}
		if err != nil {
			return fmt.Errorf("%s %w", key, err)
		}
	}
	at := jvmthread.Time(event.Timestamp())
	c.Events = append(c.Events, jvmthread.Event{Kind: jvmthread.KindContext, Time: at, Thread: c.Thread.ID, Span: span})
	return nil
}

// digits reads as many hexadecimal digits as fill dst.
func digits(value pcommon.Value, dst []byte) error {
	s, err := text(value)
	if err != nil {
		return err
	}
	if len(s) == hex.EncodedLen(len(dst)) {
		_, err = hex.Decode(dst, []byte(s))
	}
	if err != nil || len(s) != hex.EncodedLen(len(dst)) {
		return fmt.Errorf("is %q, want %d hexadecimal digits", s, hex.EncodedLen(len(dst)))
	}
	return nil
}
