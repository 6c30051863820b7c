// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Secret is what only the owner of a session knows: the session's ID is derived from it. It appears in hellos only.
type Secret [16]byte

// sessionDomain keeps this use of the hash apart from any other.
const sessionDomain = "weft session\x00"

// NewSecret returns a random secret and the ID of its session.
func NewSecret() (Secret, jvmthread.SessionID) {
	for {
		var s Secret
		_, _ = rand.Read(s[:]) // never fails
		if id := s.Session(); id[0] != 0 {
			return s, id
		}
	}
}

// Session returns the ID that the secret proves. An ID whose first byte is 0 is not valid.
func (s Secret) Session() (id jvmthread.SessionID) {
	sum := sha256.Sum256(append([]byte(sessionDomain), s[:]...))
	copy(id[:], sum[:])
	return id
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s == Secret{} }

// String keeps the secret out of logs and messages.
func (s Secret) String() string { return "[secret]" }

// GoString is for %#v.
func (s Secret) GoString() string { return "wire.Secret{}" }

// Headers are credentials such as authorization. Keys are in lower case. Like the secret they are never exported, logged or recorded.
type Headers []Attribute

// String keeps the values out of logs and messages.
func (h Headers) String() string { return fmt.Sprintf("[%d headers]", len(h)) }

// GoString is for %#v.
func (h Headers) GoString() string { return "wire.Headers" + h.String() }

// IsProven reports whether the secret of the hello is that of its session. It takes the same time for all secrets.
func (h *Hello) IsProven() bool {
	id := h.Secret.Session()
	return !h.Secret.IsZero() && subtle.ConstantTimeCompare(id[:], h.Session[:]) == 1
}
