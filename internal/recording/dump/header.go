// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/recording"
)

// header is the first line of a thread.
type header struct {
	name            string
	id, native      uint64
	cpu             time.Duration
	daemon, virtual bool
	status          string // "waiting on condition", or a state such as "BLOCKED on java.lang.Object@1b owned by ..."
}

// starts begin what follows the name of a thread.
var starts = []string{"#", "daemon ", "virtual ", "prio=", "os_prio=", "cpu=", "tid=", "nid=", "Id=", "id=", "- Thread t@", "["}

// parseHeader parses a header: the name in quotes, which may contain quotes, and what follows it.
func parseHeader(text string) (h header, ok bool) {
	if !strings.HasPrefix(text, "\"") {
		return parseNumbered(text)
	}
	for _, end := range [...]int{strings.LastIndex(text, "\" "), strings.Index(text, "\" ")} {
		if end < 1 {
			return h, false
		}
		if rest := strings.TrimSpace(text[end+1:]); hasStart(rest) && h.attributes(rest) {
			h.name = text[1:end]
			return h, true
		}
	}
	return h, false
}

func hasStart(text string) bool {
	for _, start := range starts {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// attributes parses what follows a name, and reports whether it identifies a thread.
func (h *header) attributes(text string) (known bool) {
	for text != "" {
		word, rest, _ := strings.Cut(text, " ")
		rest = strings.TrimLeft(rest, " ")
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "nid":
			h.status = rest
			return known
		case strings.HasPrefix(word, "#"):
			h.id, known = number(word[1:]), true
		case name == "tid":
			n := 0
			h.native, n = recording.ParseHex([]byte(value))
			known = n > 0
		case name == "Id":
			h.id, h.status = number(value), rest
			return true
		case name == "id" && strings.HasPrefix(rest, "in "):
			h.id, h.status = number(value), rest[len("in "):]
			return true
		case strings.HasPrefix(word, "t@"):
			h.id, h.status = number(word[2:]), rest
			return true
		case name == "cpu":
			h.cpu = milliseconds(value)
		case word == "daemon":
			h.daemon = true
		case word == "virtual":
			h.virtual = true
		}
		text = rest
	}
	return known
}

// parseNumbered parses a header of Thread.dump_to_file: #31 "worker" virtual WAITING 2026-11-29T20:59:52.6Z.
func parseNumbered(text string) (h header, ok bool) {
	digits, rest, ok := strings.Cut(text, " \"")
	end := strings.LastIndexByte(rest, '"')
	if !ok || !strings.HasPrefix(digits, "#") || end < 0 {
		return h, false
	}
	if h.id = number(digits[1:]); h.id == 0 {
		return h, false
	}
	h.name = rest[:end]
	h.status = strings.TrimSpace(rest[end+1:])
	h.status, h.virtual = cutWord(h.status, "virtual")
	return h, true
}

func cutWord(text, word string) (rest string, found bool) {
	rest, found = strings.CutPrefix(text, word)
	return strings.TrimSpace(rest), found
}

// number returns a positive decimal number, or 0. IDs of threads fit into a signed number.
func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 62)
	if err != nil {
		return 0
	}
	return n
}

// milliseconds parses "12.34ms"; 0: something else.
func milliseconds(text string) time.Duration {
	digits, ok := strings.CutSuffix(text, "ms")
	if !ok {
		return 0
	}
	t, n := recording.ParseTime([]byte(digits), time.Millisecond)
	if n != len(digits) {
		return 0
	}
	return max(0, time.Duration(t))
}
