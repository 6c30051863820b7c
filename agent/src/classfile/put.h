// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the big-endian numbers of the class file format.

#pragma once

#include <stdint.h>

#include "wire/bytes.h"

static inline void weft_put_u8(struct weft_bytes *out, uint8_t n) {
    weft_bytes_append(out, &n, 1);
}

static inline void weft_put_u16(struct weft_bytes *out, uint32_t n) {
    const uint8_t b[2] = {(uint8_t)(n >> 8), (uint8_t)n};
    weft_bytes_append(out, b, sizeof b);
}

static inline void weft_put_u32(struct weft_bytes *out, uint32_t n) {
    weft_put_u16(out, n >> 16);
    weft_put_u16(out, n & 0xFFFF);
}
