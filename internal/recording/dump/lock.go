// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strings"

	"github.com/weft-otel/weft/internal/recording"
)

// lockLine is what a line such as "- waiting to lock <0x000000069ec41250> (a shop.Rates)" says.
type lockLine struct {
	verb    string // without the object: "waiting to lock"
	address uint64 // or hash; 0: not stated
	class   string
}

// parseLock parses what follows "- ".
func parseLock(text string) (l lockLine, ok bool) {
	open := strings.IndexByte(text, '<')
	if open < 0 {
		return parseHashed(text)
	}
	l.verb = strings.TrimSpace(text[:open])
	end := strings.IndexByte(text[open:], '>')
	if end < 0 {
		return l, false
	}
	inside, after := text[open+1:open+end], strings.TrimSpace(text[open+end+1:])
	if class, hash, hashed := strings.Cut(inside, "@"); hashed { // of Thread.dump_to_file
		l.address, l.class = hashOf(hash), class
		return l, true
	}
	if address, n := recording.ParseHex([]byte(inside)); n == len(inside) && n > 0 {
		l.address = address
	}
	l.class = classOf(after)
	return l, true
}

// classOf returns the class in "(a shop.Rates)", "(a java.lang.Class for shop.Rates)".
func classOf(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	text = strings.TrimPrefix(text, "a ")
	if of, ok := strings.CutPrefix(text, "java.lang.Class for "); ok {
		return "java.lang.Class<" + of + ">"
	}
	if strings.ContainsAny(text, " \t()") {
		return ""
	}
	return text
}

// parseHashed parses "locked java.lang.Object@1b2c3d", as java.lang.management prints it.
func parseHashed(text string) (l lockLine, ok bool) {
	name, hash, ok := cutLast(text, '@')
	if !ok {
		return l, false
	}
	if space := strings.LastIndexByte(name, ' '); space >= 0 {
		l.verb, name = strings.TrimSpace(name[:space]), name[space+1:]
	}
	l.class, l.address = name, hashOf(hash)
	return l, l.address != 0
}

func cutLast(text string, at byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, at)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// hashed marks identity hash codes, which may be equal to addresses.
const hashed = 1 << 63

// hashOf parses an identity hash code; 0: it is none.
func hashOf(text string) uint64 {
	end := len(text)
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			end = i
			break
		}
	}
	n, used := recording.ParseHex([]byte(text[:end]))
	if used == 0 || used > 16 {
		return 0
	}
	return n | hashed
}
