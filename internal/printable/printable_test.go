// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package printable_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/printable"
)

func TestHiddenCharactersAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"OrderBook.lock §":            "OrderBook.lock §",
		`C:\new "x"`:                  `C:\new "x"`,
		"注文-1 café ×½ 👍 שלום":         "注文-1 café ×½ 👍 שלום",
		"\u0600123":                   "\u0600123", // a visible sign of format
		"a\nb\tc\r":                   `a\nb\tc\r`,
		"\x1b[2J\x1b]0;x\a":           `\u001b[2J\u001b]0;x\u0007`,
		"\x00\x7f":                    `\u0000\u007f`,
		"\u0080\u009b31m\u0085":       `\u0080\u009b31m\u0085`,
		"\u200e\u200f\u061c":          `\u200e\u200f\u061c`,
		"\u202a\u202b\u202c\u202d":    `\u202a\u202b\u202c\u202d`,
		"x\u202ey":                    `x\u202ey`,
		"\u2066\u2067\u2068\u2069":    `\u2066\u2067\u2068\u2069`,
		"\u2028\u2029":                `\u2028\u2029`,
		"\ufeff\u200b\u200c\u200d":    `\ufeff\u200b\u200c\u200d`,
		"\u00ad\u2060\u180e\u3164":    `\u00ad\u2060\u180e\u3164`,
		"\U000e0041":                  `\udb40\udc41`,
		"\xff\xc2":                    `\xff\xc2`,
		"\xed\xa0\x80":                `\xed\xa0\x80`, // a surrogate
		"the replacement: \ufffd":     "the replacement: \ufffd",
		strings.Repeat("x", 9) + "\n": strings.Repeat("x", 9) + `\n`,
	} {
		assert.Equal(t, want, printable.Text(text))
		assert.Equal(t, want, printable.Text(want), "twice")
		assert.Equal(t, []string{want}, printable.Texts([]string{text}))
	}
}

func TestCleanTextIsNotCopied(t *testing.T) {
	text := "注文 " + strings.Repeat("x", 100)
	assert.Zero(t, testing.AllocsPerRun(100, func() { printable.Text(text) }))
}

func TestWriterKeepsLines(t *testing.T) {
	var b strings.Builder
	w := printable.Writer(&b)
	for _, text := range []string{"a\n", "\x1b[2J\nb\xff\n", "\u202e\n"} {
		n, err := w.Write([]byte(text))
		require.NoError(t, err)
		require.Len(t, text, n)
	}
	assert.Equal(t, "a\n\\u001b[2J\nb\\xff\n\\u202e\n", b.String())
}

func FuzzJSONKeepsItsValue(f *testing.F) {
	f.Add("\xe2\x80") // the encoder replaces each byte
	f.Add("\x00\x1b\u0085\u202e\U000e0041\xff\ufffd\n注文")
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		require.NoError(t, json.NewEncoder(printable.Writer(&b)).Encode(text))
		assert.Equal(t, strings.TrimSuffix(b.String(), "\n"), printable.Text(strings.TrimSuffix(b.String(), "\n")))
		plain, err := json.Marshal(text)
		require.NoError(t, err)
		var got, want string
		require.NoError(t, json.Unmarshal([]byte(b.String()), &got))
		require.NoError(t, json.Unmarshal(plain, &want))
		assert.Equal(t, want, got)
	})
}
