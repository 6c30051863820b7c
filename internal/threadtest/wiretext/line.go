// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/wire"
)

// line is a parsed line of the text form: words, then fields of the form name=value. Like cursor, it keeps the first failure.
type line struct {
	words  []string
	fields []field
	err    error
}

type field struct {
	name, value string
	quoted      bool // the name is in quotes, so this is an attribute
	after       int  // number of words before it
	used        bool
}

// splitLine parses a line. The first word is the kind.
func splitLine(text string) *line {
	l := &line{}
	for rest := strings.TrimSpace(text); rest != "" && l.err == nil; rest = strings.TrimLeft(rest, " \t") {
		var f field
		f.name, f.quoted, rest = l.token(rest, " \t=")
		if !strings.HasPrefix(rest, "=") {
			l.words = append(l.words, f.name)
			continue
		}
		f.value, _, rest = l.token(rest[1:], " \t")
		f.after = len(l.words)
		l.fields = append(l.fields, f)
	}
	if l.err == nil && len(l.words) == 0 {
		l.fail("missing kind")
	}
	return l
}

// token consumes a quoted string, or the text before one of the characters in until.
func (l *line) token(text, until string) (token string, quoted bool, rest string) {
	if !strings.HasPrefix(text, `"`) {
		i := strings.IndexAny(text, until)
		if i < 0 {
			i = len(text)
		}
		return text[:i], false, text[i:]
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			token, err := unquote(text[1:i])
			if err != nil && l.err == nil {
				l.err = err
			}
			return token, true, text[i+1:]
		}
	}
	l.fail("unterminated string")
	return "", true, ""
}

func (l *line) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

// string returns the value of a field, or "" if it is missing.
func (l *line) string(name string) string {
	for i := range l.fields {
		if f := &l.fields[i]; f.name == name && !f.quoted && !f.used {
			f.used = true
			return f.value
		}
	}
	return ""
}

func (l *line) unsigned(name string, bits int) uint64 { return l.number(name, l.string(name), bits) }

func (l *line) number(name, text string, bits int) uint64 {
	if text == "" {
		return 0
	}
	v, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		l.fail("%s: invalid unsigned %d-bit number %q", name, bits, text)
	}
	return v
}

func (l *line) signed(name string) int64 { return l.signedNumber(name, l.string(name), 64) }

func (l *line) signedNumber(name, text string, bits int) int64 {
	if text == "" {
		return 0
	}
	v, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		l.fail("%s: invalid signed %d-bit number %q", name, bits, text)
	}
	return v
}

func (l *line) hex(name, text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		l.fail("%s: invalid hexadecimal %q", name, text)
	}
	return b
}

// pairs splits a:b,c:d.
func (l *line) pairs(name string) [][2]string {
	text := l.string(name)
	if text == "" {
		return nil
	}
	var pairs [][2]string
	for part := range strings.SplitSeq(text, ",") {
		a, b, ok := strings.Cut(part, ":")
		if !ok {
			l.fail("%s: missing colon in %q", name, part)
		}
		pairs = append(pairs, [2]string{a, b})
	}
	return pairs
}

// done returns the first failure, or an error for unknown words and fields.
func (l *line) done(words int) error {
	if l.err == nil && len(l.words) > words {
		l.fail("unexpected word %q", l.words[words])
	}
	for _, f := range l.fields {
		if !f.used {
			l.fail("unknown or repeated field %q", f.name)
		}
	}
	return l.err
}

// attributes returns the fields after the kind whose names are in quotes.
func (l *line) attributes() []wire.Attribute { return l.attributesAfter(1) }

// attributesAfter returns those between the given number of words and the next word.
func (l *line) attributesAfter(words int) []wire.Attribute {
	var attributes []wire.Attribute
	for i := range l.fields {
		if f := &l.fields[i]; f.quoted && f.after == words {
			f.used = true
			attributes = append(attributes, wire.Attribute{Key: f.name, Value: f.value})
		}
	}
	return attributes
}
