// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/binary"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// MAC is a message authentication code, the signature of a carrier.
type MAC [16]byte

// PutMAC adds the signature of a carrier, which takes 36 bytes in OTLP.
func PutMAC(span ptrace.Span, mac MAC) { span.Attributes().PutEmptyBytes(attrRawMAC).FromRaw(mac[:]) }

// MACOf returns the signature of a carrier, if it has one.
func MACOf(span ptrace.Span) (mac MAC, ok bool) {
	value, ok := span.Attributes().Get(attrRawMAC)
	if !ok || value.Type() != pcommon.ValueTypeBytes || value.Bytes().Len() != len(mac) {
		return mac, false
	}
	for i := range mac {
		mac[i] = value.Bytes().At(i)
	}
	return mac, true
}

// AppendSigned appends what the signature of a carrier covers: all that decides what it does to a session. This is what Parse and the other
// functions for carriers read, and the ID of the span, by which repeats are recognized. Neither the resource, to which processors may add, nor the
// times of the span, which nothing reads. No two carriers that differ have the same bytes, also if they are invalid.
func AppendSigned(to []byte, span ptrace.Span) []byte {
	session, id := span.TraceID(), span.SpanID()
	to = append(append(to, session[:]...), id[:]...)
	attributes := span.Attributes()
	for _, key := range [...]string{attrRawVersion, attrRawEvents, attrRawFirst} {
		value, ok := attributes.Get(key)
		if to = appendType(to, value, ok); ok && value.Type() == pcommon.ValueTypeInt {
			to = binary.LittleEndian.AppendUint64(to, uint64(value.Int()))
		}
	}
	end, ok := attributes.Get(attrRawEnd)
	if to = appendType(to, end, ok); ok && end.Type() == pcommon.ValueTypeStr {
		to = binary.LittleEndian.AppendUint64(to, uint64(len(end.Str())))
		to = append(to, end.Str()...)
	}
	data, ok := attributes.Get(attrRawBytes)
	if to = appendType(to, data, ok); ok && data.Type() == pcommon.ValueTypeBytes {
		to = appendBytes(to, data.Bytes())
	}
	return to
}

// missing is none of the types of values.
const missing = 0xff

func appendType(to []byte, value pcommon.Value, ok bool) []byte {
	if !ok {
		return append(to, missing)
	}
	return append(to, byte(value.Type()))
}

// appendBytes does not use AsRaw, which allocates a copy. The fixed size of a block lets the compiler drop checks: it takes a third of the time.
func appendBytes(to []byte, data pcommon.ByteSlice) []byte {
	var block [256]byte
	n, at := data.Len(), 0
	for ; n-at >= len(block); at += len(block) {
		for i := range block {
			block[i] = data.At(at + i)
		}
		to = append(to, block[:]...)
	}
	for ; at < n; at++ {
		to = append(to, data.At(at))
	}
	return to
}
