// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"slices"
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

// MarkRecording records the format that a session was read from, the thresholds below which the recording lacks events, and whether its waits
// had one end only; see recording.CompleteWaits.
func MarkRecording(res pcommon.Resource, format string, session *recording.Session) {
	res.Attributes().PutStr(attrRecordingFormat, format)
	putText(res.Attributes(), attrRecordingThresholds, strings.Join(session.Thresholds, "; "))
	putText(res.Attributes(), attrRecordingUnused, session.Unused)
	putText(res.Attributes(), attrRecordingDumps, dumpTimes(session.Dumps))
	putTrue(res.Attributes(), attrSingleEnded, session.SingleEnded)
}

// RecordingSession is the inverse of FillResource, for recordings. It keeps attributes with string values only.
func RecordingSession(id jvmthread.SessionID, res pcommon.Resource) recording.Session {
	s := recording.Session{ID: id}
	for key, value := range res.Attributes().All() {
		switch {
		case key == attrProcessPID && value.Type() == pcommon.ValueTypeInt:
			s.PID = uint32(value.Int())
		case key == attrSingleEnded && value.Type() == pcommon.ValueTypeBool:
			s.SingleEnded = value.Bool()
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

// SpansSession returns the session whose spans have a resource, if it is one of thread_span. Thresholds are those of the recording that the
// spans come from. Its waits have both ends.
func SpansSession(res pcommon.Resource) (session recording.Session, ok bool) {
	value, ok := res.Attributes().Get(attrSessionID)
	if !ok || value.Type() != pcommon.ValueTypeStr {
		return session, false
	}
	var id jvmthread.SessionID
	if readID(id[:], value.Str()); id[0] == 0 {
		return session, false
	}
	session = RecordingSession(id, res)
	session.SingleEnded = false
	session.Attributes = slices.DeleteFunc(session.Attributes, func(a wire.Attribute) bool {
		switch a.Key {
		case attrRecordingDumps:
			session.Dumps = DumpTimes(a.Value)
		case attrRecordingThresholds:
			session.Thresholds = strings.Split(a.Value, "; ")
		case attrRecordingUnused:
			session.Unused = a.Value
		case attrRecordingFormat:
		case attrServiceInstanceID:
			return a.Value == id.String() // FillResource adds it
		default:
			return a.Key == attrServiceName && a.Value == unknownService
		}
		return true
	})
	return session, true
}
