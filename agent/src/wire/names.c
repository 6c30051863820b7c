// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/names.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

char *weft_names_binary(char *signature) {
    for (char *c = signature; *c != '\0'; c++) {
        if (*c == '/') {
            *c = '.';
        }
    }
    size_t len = strlen(signature);
    if (len >= 2 && signature[0] == 'L' && signature[len - 1] == ';') {
        signature[len - 1] = '\0';
        signature++;
    }
    weft_names_utf8(signature);
    return signature;
}

// The surrogate at p, or 0 if there is none.
static uint32_t surrogate(const unsigned char *p) {
    if (p[0] != 0xED || (p[1] & 0xE0U) != 0xA0U || (p[2] & 0xC0U) != 0x80U) {
        return 0;
    }
    return 0xD000U | (p[1] & 0x3FU) << 6 | (p[2] & 0x3FU);
}

void weft_names_utf8(char *text) {
    const unsigned char *in = (const unsigned char *)text;
    unsigned char *out = (unsigned char *)text;
    while (*in != '\0') {
        uint32_t high = surrogate(in);
        if (high == 0) {
            if (in[0] == 0xC0 && in[1] == 0x80) {
                *out++ = '?';
                in += 2;
            } else {
                *out++ = *in++;
            }
            continue;
        }
        uint32_t low = surrogate(in + 3);
        if (high >= 0xDC00 || low < 0xDC00) {
            *out++ = '?';
            in += 3;
            continue;
        }
        uint32_t point = 0x10000U + ((high - 0xD800U) << 10) + (low - 0xDC00U);
        *out++ = (unsigned char)(0xF0U | point >> 18);
        *out++ = (unsigned char)(0x80U | (point >> 12 & 0x3FU));
        *out++ = (unsigned char)(0x80U | (point >> 6 & 0x3FU));
        *out++ = (unsigned char)(0x80U | (point & 0x3FU));
        in += 6;
    }
    *out = '\0';
}
