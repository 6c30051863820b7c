// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// unknownService replaces a missing service.name, as the semantic conventions require.
const unknownService = "unknown_service:java"

// FillResource describes a JVM with the attributes that its agent sent.
func FillResource(res pcommon.Resource, session jvmthread.SessionID, pid uint32, sent []wire.Attribute) {
	attributes := res.Attributes()
	attributes.PutStr(attrServiceName, unknownService)
	attributes.PutStr(attrServiceInstanceID, session.String())
	for _, a := range sent {
		if a.Key != "" && a.Value != "" {
			attributes.PutStr(a.Key, a.Value)
		}
	}
	attributes.PutInt(attrProcessPID, int64(pid))
	attributes.PutStr(attrSessionID, session.String())
}

// MarkRecording records the format that a session was read from, and the thresholds below which the recording lacks events.
func MarkRecording(res pcommon.Resource, format string, thresholds []string) {
	res.Attributes().PutStr(attrRecordingFormat, format)
	if len(thresholds) > 0 {
		res.Attributes().PutStr(attrRecordingThresholds, strings.Join(thresholds, "; "))
	}
}

// MarkSingleEnded records that the waits of the session had one end only; see recording.CompleteWaits.
func MarkSingleEnded(res pcommon.Resource) { res.Attributes().PutBool(attrSingleEnded, true) }

// IsSingleEnded reports whether the session that a resource describes was marked so.
func IsSingleEnded(res pcommon.Resource) bool {
	value, ok := res.Attributes().Get(attrSingleEnded)
	return ok && value.Type() == pcommon.ValueTypeBool && value.Bool()
}

// RecordingSession is the inverse of FillResource, for recordings. It keeps attributes with string values only.
func RecordingSession(id jvmthread.SessionID, res pcommon.Resource) recording.Session {
	s := recording.Session{ID: id, SingleEnded: IsSingleEnded(res)}
	for key, value := range res.Attributes().All() {
		switch {
		case key == attrProcessPID && value.Type() == pcommon.ValueTypeInt:
			s.PID = uint32(value.Int())
		case key != attrSessionID && value.Type() == pcommon.ValueTypeStr:
			s.Attributes = append(s.Attributes, wire.Attribute{Key: key, Value: value.Str()})
		}
	}
	return s
}

// ServiceName returns the service.name of a resource, or an empty string.
func ServiceName(res pcommon.Resource) string {
	value, ok := res.Attributes().Get(attrServiceName)
	if !ok {
		return ""
	}
	return value.AsString()
}
