// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the big-endian numbers of the class file format.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes still to read. A read beyond the end gives zeros and sets failed.
struct weft_input {
    const uint8_t *at;
    size_t left;
    bool failed;
};

// The next bytes; NULL if there are fewer.
static inline const uint8_t *weft_input_skip(struct weft_input *in, size_t len) {
    if (in->failed || len > in->left) {
        in->failed = true;
        return NULL;
    }
    const uint8_t *at = in->at;
    in->at += len;
    in->left -= len;
    return at;
}

static inline uint8_t weft_input_u8(struct weft_input *in) {
    const uint8_t *b = weft_input_skip(in, 1);
    return b == NULL ? 0 : b[0];
}

static inline uint16_t weft_input_u16(struct weft_input *in) {
    const uint8_t *b = weft_input_skip(in, 2);
    return (uint16_t)(b == NULL ? 0 : b[0] << 8 | b[1]);
}

static inline uint32_t weft_input_u32(struct weft_input *in) {
    uint32_t high = weft_input_u16(in);
    return high << 16 | weft_input_u16(in);
}

// The next bytes as an input of their own.
static inline struct weft_input weft_input_part(struct weft_input *in, size_t len) {
    const uint8_t *at = weft_input_skip(in, len);
    return (struct weft_input){at, at == NULL ? 0 : len, at == NULL};
}
