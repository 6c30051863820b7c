// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/sha256.h"

#include <string.h>

enum { BLOCK = 64, WORDS = 16, ROUNDS = 64, STATE = 8, LENGTH_SIZE = 8 };

// FIPS 180-4, 4.2.2.
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned by) {
    return x >> by | x << (32 - by);
}

// FIPS 180-4, 6.2.2.
static void add_block(uint32_t state[STATE], const uint8_t block[BLOCK]) {
    uint32_t w[ROUNDS];
    for (size_t i = 0; i < WORDS; i++) {
        const uint8_t *b = block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (size_t i = WORDS; i < ROUNDS; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[STATE]; // a to h
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < ROUNDS; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choice + constants[i] + w[i];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, sizeof v - sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (size_t i = 0; i < STATE; i++) {
        state[i] += v[i];
    }
}

void weft_sha256(const void *data, size_t len, uint8_t digest[WEFT_SHA256_SIZE]) {
    // FIPS 180-4, 5.3.3.
    uint32_t state[STATE] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *at = data;
    size_t rest = len;
    for (; rest >= BLOCK; at += BLOCK, rest -= BLOCK) {
        add_block(state, at);
    }
    // A one bit, zeros, and the length in bits at the end of a block.
    uint8_t last[2 * BLOCK] = {0};
    if (rest > 0) {
        memcpy(last, at, rest);
    }
    last[rest] = 0x80;
    size_t size = rest + 1 + LENGTH_SIZE <= BLOCK ? BLOCK : sizeof last;
    uint64_t bits = (uint64_t)len * 8;
    for (size_t i = 0; i < LENGTH_SIZE; i++) {
        last[size - 1 - i] = (uint8_t)(bits >> 8 * i);
    }
    for (size_t i = 0; i < size; i += BLOCK) {
        add_block(state, last + i);
    }
    for (size_t i = 0; i < WEFT_SHA256_SIZE; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
    }
}
