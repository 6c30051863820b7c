// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTextErrorsNameTheLine(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"greet", `line 1: greet: unknown line kind`},
		{"\n# comment\nack sequence=x", `line 3: ack: sequence: invalid unsigned 64-bit number "x"`},
		{"ack sequence=1 sequence=2", `line 1: ack: unknown or repeated field "sequence"`},
		{"ack now sequence=1", `line 1: ack: unexpected word "now"`},
		{"end time=1.5", `line 1: end: time: invalid signed 64-bit number "1.5"`},
		{"thread id=1 flags=70000", `line 1: thread: flags: invalid unsigned 16-bit number "70000"`},
		{"hello session=0102", `line 1: hello: session has 2 bytes, want 16`},
		{"hello session=zz", `line 1: hello: session: invalid hexadecimal "zz"`},
		{`class id=1 name="open`, `line 1: unterminated string`},
		{`class id=1 name="\q"`, `line 1: escape "\\q": want \", \\ or \xHH`},
		{`class id=1 name="\xzz"`, `line 1: escape "\\xzz": want two hexadecimal digits`},
		{`"x"="y"`, `line 1: missing kind`},
		{"section thread=1", `line 1: section: outside a batch`},
		{"batch sequence=1\nevent yield time=1", `line 2: event: outside a section`},
		{"batch sequence=1\nsection thread=1\nevent", `line 3: event: missing kind`},
		{"batch sequence=1\nsection thread=1\nevent none", `line 3: event: unknown kind "none"`},
		{"batch sequence=1\nsection thread=1\nevent yield fast", `line 3: event: unknown flag "fast"`},
		{"batch sequence=1\nsection thread=1\nevent notify lock=7", `line 3: event: lock: invalid lock "7" (want class/hash)`},
		{"method id=1 lines=5", `line 1: method: lines: missing colon in "5"`},
		{"raw 0", `line 1: raw: bytes: invalid hexadecimal "0"`},
	} {
		_, err := AppendStream(nil, test.text)
		assert.EqualError(t, err, test.want, test.text)
	}
}
