// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca_test

import (
	"testing"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/threadtest"
)

// FuzzDecode checks that a decoder fulfills its contract for any log and metadata, and that the way a log is split does not matter.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(everyLine), []byte(metadata), uint16(7))
	f.Add([]byte("[1.5],ThreadSleep,a,[1,2,3]\n1e300,ThreadEnded,1\n-1,ThreadEnded,1\n"), []byte("00000002,a,b,(),(L;)V,Lx;,[-1]\n"), uint16(1))
	f.Add([]byte("\xff\xfe1\x00,\x00T\x00\x00\xd8\x00\xdc"), []byte("[[[\nL;\n,\n"), uint16(3))
	f.Fuzz(func(t *testing.T, log, meta []byte, piece uint16) {
		opts := recording.Options{File: "x.orca", Reorder: 4, MaxRecord: 200, Sidecar: sidecar(map[string]string{orca.ExtensionMeta: string(meta)})}
		whole, stats, err := threadtest.Decode(&format, opts, log, 0)
		threadtest.CheckDecoded(t, "whole", whole, stats, err)
		cut, stats, err := threadtest.Decode(&format, opts, log, int(piece))
		threadtest.CheckDecoded(t, "in pieces", cut, stats, err)
		if len(whole.Events) != len(cut.Events) || len(whole.Problems) != len(cut.Problems) {
			t.Errorf("whole: %d events and %v; in pieces of %d bytes: %d and %v", len(whole.Events), whole.Problems, piece, len(cut.Events), cut.Problems)
		}
	})
}
