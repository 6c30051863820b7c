// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package origin answers: may the sender of a carrier speak for its JVM? An agent proves to its receiver that a session is its own. What that
// receiver sends on is a span with the session's ID, which is public: an edge signs each carrier with a key that gateways share. Without a key,
// a session belongs to the client that sent it first.
package origin

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"hash"
	"sync"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/threadpdata"
)

// purpose separates these signatures from others that are made with the same key.
const purpose = "weft carrier\x00"

// maxKept bounds the buffer that is kept for the next carrier, in bytes.
const maxKept = 1 << 16

// Keys sign carriers, and check signatures. Safe for concurrent use. Nil: there are none.
type Keys struct {
	states []sync.Pool // of *state, one for each key; the first one signs
}

type state struct {
	mac    hash.Hash
	signed []byte
	sum    [sha256.Size]byte
}

func newKeys(secrets []string) *Keys {
	k := &Keys{states: make([]sync.Pool, len(secrets))}
	for i, secret := range secrets {
		k.states[i].New = func() any { return &state{mac: hmac.New(sha256.New, []byte(secret)), signed: []byte(purpose)} }
	}
	return k
}

// Sign signs a carrier.
func (k *Keys) Sign(span ptrace.Span) {
	if k != nil {
		threadpdata.PutMAC(span, k.sum(0, span))
	}
}

// Verdict is what a check found.
type Verdict string

// Verdicts.
const (
	Genuine  Verdict = ""
	Unsigned Verdict = "unsigned"
	Forged   Verdict = "forged" // or signed with another key
)

// Check checks the signature of a carrier, which may be invalid.
func (k *Keys) Check(span ptrace.Span) Verdict {
	have, ok := threadpdata.MACOf(span)
	if !ok {
		return Unsigned
	}
	for i := range k.states {
		want := k.sum(i, span)
		if subtle.ConstantTimeCompare(have[:], want[:]) == 1 {
			return Genuine
		}
	}
	return Forged
}

// sum returns the HMAC-SHA256 of a carrier, of which the first 16 bytes are kept (RFC 2104, section 5).
func (k *Keys) sum(key int, span ptrace.Span) (sum threadpdata.MAC) {
	s := k.states[key].Get().(*state)
	defer k.states[key].Put(s)
	s.signed = threadpdata.AppendSigned(s.signed[:len(purpose)], span)
	s.mac.Reset()
	_, _ = s.mac.Write(s.signed) // a hash never fails
	copy(sum[:], s.mac.Sum(s.sum[:0]))
	if cap(s.signed) > maxKept {
		s.signed = []byte(purpose)
	}
	return sum
}
