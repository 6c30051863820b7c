// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Pool returns the pattern that the names of the threads of one pool have in common. It replaces each number by *, and so each word of
// eight or more hexadecimal digits that contains a decimal digit: http-nio-8080-exec-7 becomes http-nio-*-exec-*.
func Pool(name string) string {
	var b strings.Builder
	for name != "" {
		n := wordAt(name)
		switch {
		case n == 0:
			b.WriteByte(name[0])
			n = 1
		case n >= 8 && isHex(name[:n]):
			b.WriteByte('*')
		default:
			writeWord(&b, name[:n])
		}
		name = name[n:]
	}
	return b.String()
}

// Common returns the first name with a star for each number that differs in the second. Names of one pool differ in numbers only, or in
// hexadecimal ones: then it returns the pool.
func Common(a, b string) string {
	var out strings.Builder
	name := a
	number := func(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789*")) }
	for a != "" && b != "" {
		n, m := number(a), number(b)
		switch {
		case n == 0 && m == 0 && a[0] != b[0]:
			return Pool(name)
		case n == 0 || m == 0:
			out.WriteByte(a[0])
			n, m = 1, 1
		case a[:n] == b[:m]:
			out.WriteString(a[:n])
		default:
			out.WriteByte('*')
		}
		a, b = a[n:], b[m:]
	}
	return out.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// wordAt returns the length of the prefix of s that consists of letters and digits.
func wordAt(s string) int {
	n := 0
	for n < len(s) && (isDigit(s[n]) || isLetter(s[n])) {
		n++
	}
	return n
}

// isHex reports whether a word consists of hexadecimal digits, at least one of them decimal.
func isHex(word string) bool {
	return strings.Trim(word, "0123456789abcdefABCDEF") == "" && strings.ContainsAny(word, "0123456789")
}

// writeWord writes a word with each number replaced by *.
func writeWord(b *strings.Builder, word string) {
	for i := range len(word) {
		switch {
		case !isDigit(word[i]):
			b.WriteByte(word[i])
		case i == 0 || !isDigit(word[i-1]):
			b.WriteByte('*')
		}
	}
}

// Text identifies a call site or a pool.
type Text uint32

// NoText means none or unknown.
const NoText Text = 0

// maxTexts bounds the texts of a session; further call sites and pools become NoText.
const maxTexts = 1 << 16

// Texts numbers the texts of a session, such as call sites and pools.
type Texts struct {
	ids  map[string]Text
	list []string
}

// NewTexts returns a list that contains the empty text only.
func NewTexts() *Texts { return &Texts{ids: map[string]Text{"": NoText}, list: []string{""}} }

// Intern returns the number of a text, or NoText if there are too many.
func (t *Texts) Intern(s string) Text {
	if id, ok := t.ids[s]; ok {
		return id
	}
	if len(t.list) >= maxTexts {
		return NoText
	}
	id := Text(len(t.list))
	t.ids[s] = id
	t.list = append(t.list, s)
	return id
}

// Text returns the text with the given number.
func (t *Texts) Text(id Text) string { return t.list[id] }

// Pools finds the pools of the threads of a session.
type Pools struct {
	*Texts

	sym *symbols.Table
	of  map[jvmthread.ThreadID]Text
}

// NewPools returns the pools of the session with these names.
func NewPools(sym *symbols.Table) *Pools {
	return &Pools{Texts: NewTexts(), sym: sym, of: make(map[jvmthread.ThreadID]Text)}
}

// Of returns the pool of a thread; NoText if its name is not known.
func (p *Pools) Of(id jvmthread.ThreadID) Text {
	t, ok := p.of[id]
	if !ok {
		name := p.sym.Thread(id).Name
		if t = p.Intern(Pool(name)); name != "" {
			p.of[id] = t
		}
	}
	return t
}

// Trim forgets threads that ended, if there are many more than the living ones.
func (p *Pools) Trim(living int) {
	if len(p.of) > 2*living+1024 {
		clear(p.of)
	}
}
