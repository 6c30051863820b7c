// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp_test

import (
	"testing"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
)

// FuzzDecode checks that a decoder fulfills its contract for any trace, and that the way a trace is split does not matter.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(everyElement), uint16(7))
	f.Add([]byte(`<?xml encoding="latin1"?><threadStart threadId="1" time="1" threadName="&#xfc;`+"\xfc"+`"><annotation name="weft.stack" value="a">b<![CDATA[<]]></annotation>`), uint16(1))
	f.Add([]byte(encode16(`<!DOCTYPE a [<!ENTITY b "]>">]><!-- --><monWait threadId="0" objIdRef="-1"/><?p`, big, true)), uint16(3))
	f.Fuzz(func(t *testing.T, trace []byte, piece uint16) {
		opts := recording.Options{File: "x", Reorder: 4, MaxRecord: 1 << 20}
		whole, stats, err := threadtest.Decode(&format, opts, trace, 0)
		threadtest.CheckDecoded(t, "whole", whole, stats, err)
		cut, stats, err := threadtest.Decode(&format, opts, trace, int(piece))
		threadtest.CheckDecoded(t, "in pieces", cut, stats, err)
		if len(whole.Events) != len(cut.Events) || len(whole.Problems) != len(cut.Problems) {
			t.Errorf("whole: %d events and %v; in pieces of %d bytes: %d and %v", len(whole.Events), whole.Problems, piece, len(cut.Events), cut.Problems)
		}
		opts.MaxRecord = 64 // the limit makes results depend on the split, but not the contract
		short, stats, err := threadtest.Decode(&format, opts, trace, int(piece))
		threadtest.CheckDecoded(t, "short", short, stats, err)
	})
}
