// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// codec appends the text of raw to dst as UTF-8, and returns how many bytes of raw it took. With last it takes all.
type codec func(dst, raw []byte, last bool) (text []byte, n int)

var (
	bomUTF8  = []byte{0xEF, 0xBB, 0xBF}
	bomUTF16 = []byte{0xFE, 0xFF} // big-endian
)

// findMark looks for a byte order mark, or for XML in UTF-16 without one. No codec means UTF-8.
func findMark(raw []byte) (c codec, mark int) {
	switch {
	case bytes.HasPrefix(raw, bomUTF8):
		return nil, len(bomUTF8)
	case bytes.HasPrefix(raw, bomUTF16):
		return decodeUTF16(binary.BigEndian), 2
	case len(raw) >= 2 && raw[0] == 0xFF && raw[1] == 0xFE:
		return decodeUTF16(binary.LittleEndian), 2
	case len(raw) >= 2 && raw[0] == '<' && raw[1] == 0:
		return decodeUTF16(binary.LittleEndian), 0
	case len(raw) >= 2 && raw[0] == 0 && raw[1] == '<':
		return decodeUTF16(binary.BigEndian), 0
	}
	return nil, 0
}

// findCodec finds an encoding that can be seen only after its declaration was read as ASCII. UTF-16 was recognized before.
func findCodec(name string) (c codec, ok bool) {
	switch strings.ToLower(name) {
	case "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-16le", "utf-16be":
		return nil, true
	case "iso-8859-1", "iso_8859-1", "latin1", "iso8859_1":
		return decodeLatin1, true
	case "windows-1252", "cp1252":
		return decodeWindows1252, true
	}
	return nil, false
}

func decodeUTF16(order binary.ByteOrder) codec {
	return func(dst, raw []byte, last bool) ([]byte, int) {
		n := 0
		for ; n+1 < len(raw); n += 2 {
			r := rune(order.Uint16(raw[n:]))
			if utf16.IsSurrogate(r) {
				if n+3 >= len(raw) && !last {
					break
				}
				r2 := rune(utf8.RuneError)
				if n+3 < len(raw) {
					r2 = rune(order.Uint16(raw[n+2:]))
				}
				if r = utf16.DecodeRune(r, r2); r != utf8.RuneError {
					n += 2
				}
			}
			dst = utf8.AppendRune(dst, r)
		}
		if last && n < len(raw) {
			dst, n = utf8.AppendRune(dst, utf8.RuneError), len(raw)
		}
		return dst, n
	}
}

func decodeLatin1(dst, raw []byte, _ bool) (text []byte, n int) {
	for _, c := range raw {
		dst = utf8.AppendRune(dst, rune(c))
	}
	return dst, len(raw)
}

// windows1252 are the characters of 0x80 to 0x9F, by the table of the Unicode consortium; those that it leaves open are control characters.
var windows1252 = [32]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

func decodeWindows1252(dst, raw []byte, _ bool) (text []byte, n int) {
	for _, c := range raw {
		r := rune(c)
		if c >= 0x80 && c < 0xA0 {
			r = windows1252[c-0x80]
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, len(raw)
}
