// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the code blob at an address. HotSpot keeps compiled methods and its own stubs as blobs in a
// few heaps, each with an exported map.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_code_blob {
    uintptr_t at;
    uintptr_t map;      // the map entry of its beginning
    uintptr_t name;     // the address of the name
    int32_t frame_size; // in words
    int32_t number;     // of a compilation, never reused; otherwise 0
    bool java;          // a compilation rather than a stub of the JVM
};

// False if this JVM does not export the structures.
bool weft_code_cache_init(void);

// Finds the blob that contains an address. False if there is none whose frames can be walked.
bool weft_code_cache_find(uintptr_t pc, struct weft_code_blob *b);

// Whether a frame that returns to pc was deoptimized. Kept is then the offset of its original pc
// from its beginning.
bool weft_code_cache_is_deoptimized(const struct weft_code_blob *b, uintptr_t pc, uintptr_t *kept);

// Whether previously found blobs still exist.
bool weft_code_cache_has(const struct weft_code_blob *list, size_t count);
