// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

var bomUTF8 = []byte{0xEF, 0xBB, 0xBF}

// findMark looks for a byte order mark, or for XML in UTF-16 without one. A nil codec means UTF-8.
func findMark(raw []byte) (codec transform.Transformer, mark int) {
	utf16 := func(order unicode.Endianness) transform.Transformer {
		return unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()
	}
	has := func(prefix string) bool { return bytes.HasPrefix(raw, []byte(prefix)) }
	switch {
	case bytes.HasPrefix(raw, bomUTF8):
		return nil, len(bomUTF8)
	case has("\xFE\xFF"):
		return utf16(unicode.BigEndian), 2
	case has("\xFF\xFE"):
		return utf16(unicode.LittleEndian), 2
	case has("<\x00"):
		return utf16(unicode.LittleEndian), 0
	case has("\x00<"):
		return utf16(unicode.BigEndian), 0
	}
	return nil, 0
}

// findCodec finds a declared encoding that is compatible with ASCII up to its declaration. findMark has recognized UTF-16.
func findCodec(name string) (codec transform.Transformer, ok bool) {
	switch strings.ToLower(name) {
	case "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be":
		return nil, true
	case "iso-8859-1", "iso_8859-1", "latin1", "iso8859_1":
		return charmap.ISO8859_1.NewDecoder(), true
	case "windows-1252", "cp1252":
		return charmap.Windows1252.NewDecoder(), true
	}
	return nil, false
}

// appendDecoded appends raw as UTF-8 and returns the number of bytes consumed: all of them if they are the last.
func appendDecoded(dst []byte, codec transform.Transformer, raw []byte, last bool) (text []byte, n int) {
	dst = slices.Grow(dst, 3*len(raw)) // each unit has at most three bytes in UTF-8
	size, n, _ := codec.Transform(dst[len(dst):cap(dst)], raw, last)
	return dst[:len(dst)+size], n
}
