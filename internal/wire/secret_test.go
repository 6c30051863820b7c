// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The value was computed with another program: printf 'weft session\0…' | sha256sum.
func TestSessionOfASecret(t *testing.T) {
	var s Secret
	for i := range s {
		s[i] = byte(i)
	}
	id := s.Session()
	assert.Equal(t, "064a448cd3657ee2d005a68bf060deb8", hex.EncodeToString(id[:]))
}

func TestOnlyTheSecretProvesASession(t *testing.T) {
	secret, id := NewSecret()
	other, _ := NewSecret()
	assert.NotZero(t, id[0])
	assert.True(t, (&Hello{Session: id, Secret: secret}).IsProven())
	assert.False(t, (&Hello{Session: id, Secret: other}).IsProven())
	assert.False(t, (&Hello{Session: id}).IsProven())
	assert.False(t, (&Hello{Session: Secret{}.Session()}).IsProven(), "no secret proves nothing")
}

func TestSecretsAreNotPrinted(t *testing.T) {
	secret, _ := NewSecret()
	for _, form := range []string{"%v", "%+v", "%s", "%#v"} {
		text := fmt.Sprintf(form, &Hello{Secret: secret, Headers: []Attribute{{"authorization", "Bearer abc"}}})
		assert.NotContains(t, text, "abc", form)
		assert.NotContains(t, text, hex.EncodeToString(secret[:]), form)
		assert.NotContains(t, text, fmt.Sprintf("%#v", [16]byte(secret)), form)
	}
}

func TestAHelloIsDecodedIntoAUsedOne(t *testing.T) {
	secret, id := NewSecret()
	full := Hello{Session: id, Secret: secret, Headers: []Attribute{{Key: "authorization", Value: "Bearer abc"}}}
	old := Hello{Session: id}
	read := func(h *Hello) Frame {
		frame, err := NewReader(bytes.NewReader(AppendHello(nil, h)), MaxFrame).Next()
		require.NoError(t, err)
		return frame
	}
	var h Hello
	require.NoError(t, read(&full).Hello(&h))
	assert.Equal(t, secret, h.Secret)
	assert.Equal(t, []Attribute(full.Headers), []Attribute(h.Headers))
	require.NoError(t, read(&old).Hello(&h))
	assert.True(t, h.Secret.IsZero())
	assert.Empty(t, h.Headers)
}
