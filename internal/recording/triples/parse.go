// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bytes"
	"hash/fnv"
	"math"
	"strconv"
	"time"
)

// triple is a parsed triple.
type triple struct {
	from, to  name
	operation []byte
	active    time.Duration // negative: not stated
}

// name identifies a thread.
type name struct {
	id   uint64
	text string // of a thread without a number
}

var comma = []byte{','}

// parse parses the triple at the start of a line, with or without angle brackets, and returns the rest of the line.
func parse(line []byte) (t triple, rest []byte, wrong string) {
	line = bytes.TrimSpace(line)
	bracket := len(line) > 0 && line[0] == '<'
	if bracket {
		line = line[1:]
	}
	first, line, ok := bytes.Cut(line, comma)
	var ok2 bool
	t.operation, rest, ok2 = bytes.Cut(line, comma)
	if !ok || !ok2 {
		return t, nil, "the line is not <thread>, <operation>, <thread>"
	}
	t.operation, rest, t.active = bytes.TrimSpace(t.operation), trimBlanks(rest), -1
	second, rest := cutThread(rest, bracket)
	if bracket {
		rest = bytes.TrimPrefix(rest, []byte{'>'})
	}
	t.from, ok = parseName(first)
	t.to, ok2 = parseName(second)
	if !ok || !ok2 {
		return t, nil, "the line names no thread"
	}
	after := trimBlanks(rest)
	if len(after) == 0 || after[0] != ',' {
		return t, rest, ""
	}
	if t.active, rest, ok = cutActive(after[1:]); !ok {
		return t, nil, "unexpected text after the triple"
	}
	return t, rest, ""
}

const prefix = "Thread-"

// cutThread cuts off the second thread: Thread-<number>, or any text up to a comma, a bracket or the end.
func cutThread(text []byte, bracket bool) (thread, rest []byte) {
	if bytes.HasPrefix(text, []byte(prefix)) {
		n := len(prefix)
		for n < len(text) && text[n]-'0' <= 9 {
			n++
		}
		if n == len(text) || n > len(prefix) && bytes.IndexByte([]byte(" \t,>"), text[n]) >= 0 {
			return text[:n], text[n:]
		}
	}
	ends := ","
	if bracket {
		ends = ",>"
	}
	if n := bytes.IndexAny(text, ends); n >= 0 {
		return text[:n], text[n:]
	}
	return text, nil
}

// parseName parses a thread. One without a number gets one from a hash of its name.
func parseName(text []byte) (n name, ok bool) {
	text = bytes.TrimSpace(text)
	if digits, found := bytes.CutPrefix(text, []byte(prefix)); found {
		if id, err := strconv.ParseUint(string(digits), 10, 63); err == nil && id > 0 {
			return name{id: id}, true
		}
	}
	if len(text) == 0 {
		return n, false
	}
	h := fnv.New64a()
	_, _ = h.Write(text) // never fails
	return name{id: h.Sum64()&^(1<<63) | 1<<62, text: string(text)}, true
}

// trimBlanks is bytes.TrimLeft without its set of characters, which costs more than the rest of it.
func trimBlanks(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	return text
}

// cutActive cuts off "active <n> ms".
func cutActive(text []byte) (active time.Duration, rest []byte, ok bool) {
	text = trimBlanks(text)
	const word = "active"
	if len(text) < len(word) || !bytes.EqualFold(text[:len(word)], []byte(word)) {
		return 0, nil, false
	}
	text = trimBlanks(text[len(word):])
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	ms, err := strconv.ParseInt(string(text[:n]), 10, 64)
	text = trimBlanks(text[n:])
	if err != nil || ms > math.MaxInt64/int64(time.Millisecond)/1000 || len(text) < 2 || !bytes.EqualFold(text[:2], []byte("ms")) {
		return 0, nil, false
	}
	return time.Duration(ms) * time.Millisecond, text[2:], true
}
