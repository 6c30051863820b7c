// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "options/printable.h"

#include <stdio.h>
#include <string.h>

// Returns the length of the hidden character at the beginning of a text, or 0: controls, marks and
// overrides of direction, separators of lines, and characters of width zero. Other bytes that are
// not UTF-8 hide nothing.
static size_t hidden(const unsigned char *c) {
    if (c[0] < ' ' || c[0] == 0x7f) {
        return 1;
    }
    if (c[0] == 0xc2 && ((c[1] >= 0x80 && c[1] <= 0x9f) || c[1] == 0xad)) {
        return 2; // U+0080 to U+009F, U+00AD
    }
    if (c[0] >= 0x80 && c[0] <= 0x9f) {
        return 1; // the same in Latin-1
    }
    if (c[0] == 0xd8 && c[1] == 0x9c) {
        return 2; // U+061C
    }
    if (c[0] == 0xe2 && c[1] == 0x80 &&
        ((c[2] >= 0x8b && c[2] <= 0x8f) || (c[2] >= 0xa8 && c[2] <= 0xae))) {
        return 3; // U+200B to U+200F, U+2028 to U+202E
    }
    if (c[0] == 0xe2 && c[1] == 0x81 && c[2] >= 0xa0 && c[2] <= 0xaf) {
        return 3; // U+2060 to U+206F
    }
    return c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf ? 3 : 0; // U+FEFF
}

// Returns the length of the visible character at the beginning of a text, as its first byte states
// it.
static size_t visible(const unsigned char *c) {
    size_t length = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : c[0] >= 0xc0 ? 2 : 1;
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xc0) != 0x80) {
            return i; // broken, or the end
        }
    }
    return length;
}

const char *weft_printable_text(const char *text, char *out, size_t size) {
    enum { ESCAPE = 4 };
    size_t at = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
        size_t escaped = hidden(c);
        size_t plain = escaped == 0 ? visible(c) : 0;
        if (at + escaped * ESCAPE + plain >= size) {
            break;
        }
        for (size_t i = 0; i < escaped; i++) {
            (void)snprintf(out + at, ESCAPE + 1, "\\x%02x", c[i]);
            at += ESCAPE;
        }
        memcpy(out + at, c, plain);
        at += plain;
        c += escaped + plain;
    }
    out[at] = '\0';
    return out;
}
