// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which piece of the JVM's code lies at an address? HotSpot keeps compiled methods and its own
// stubs as blobs in a few heaps, with a map of each that is exported.

#ifndef WEFT_CODE_CACHE_H
#define WEFT_CODE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_code_blob {
    uintptr_t at;
    uintptr_t map;      // the entry of its beginning
    uintptr_t name;     // the address of it
    int32_t frame_size; // in words
    int32_t number;     // of a compilation, never given again; else 0
    bool java;          // it is a compilation, and not a stub of the JVM's own
};

// False if this JVM does not tell.
bool weft_code_cache_init(void);

// The blob that has the code at an address. False if there is none whose frames can be passed.
bool weft_code_cache_find(uintptr_t pc, struct weft_code_blob *b);

// Whether a frame that returns to an address has lost its place. It keeps it at so many bytes from
// its beginning.
bool weft_code_cache_is_deoptimized(const struct weft_code_blob *b, uintptr_t pc, uintptr_t *kept);

// Whether blobs that were found before are still there.
bool weft_code_cache_has(const struct weft_code_blob *list, size_t count);

#endif
