// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTextSaysWhichLineIsWrong(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"greet", `line 1: greet: unknown kind of line`},
		{"\n# comment\nack sequence=x", `line 3: ack: sequence: "x" is not a number of 64 bits`},
		{"ack sequence=1 sequence=2", `line 1: ack: unknown or double field "sequence"`},
		{"ack now sequence=1", `line 1: ack: unknown word "now"`},
		{"end time=1.5", `line 1: end: time: "1.5" is not a number of 64 bits with sign`},
		{"thread id=1 flags=70000", `line 1: thread: flags: "70000" is not a number of 16 bits`},
		{"hello session=0102", `line 1: hello: session has 2 bytes, want 16`},
		{"hello session=zz", `line 1: hello: session: "zz" is not hexadecimal`},
		{`class id=1 name="open`, `line 1: string without end`},
		{`class id=1 name="\q"`, `line 1: escape "\\q": want \", \\ or \xHH`},
		{`class id=1 name="\xzz"`, `line 1: escape "\\xzz": want two hexadecimal digits`},
		{`"x"="y"`, `line 1: no kind`},
		{"section thread=1", `line 1: section: outside a batch`},
		{"batch sequence=1\nevent yield time=1", `line 2: event: outside a section`},
		{"batch sequence=1\nsection thread=1\nevent", `line 3: event: missing kind`},
		{"batch sequence=1\nsection thread=1\nevent none", `line 3: event: unknown kind "none"`},
		{"batch sequence=1\nsection thread=1\nevent yield fast", `line 3: event: unknown flag "fast"`},
		{"batch sequence=1\nsection thread=1\nevent notify lock=7", `line 3: event: lock: "7" is not class/hash`},
		{"method id=1 lines=5", `line 1: method: lines: "5" has no colon`},
		{"raw 0", `line 1: raw: bytes: "0" is not hexadecimal`},
	} {
		_, err := AppendStream(nil, test.text)
		assert.EqualError(t, err, test.want, test.text)
	}
}
