// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a constant pool in the class file format.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Modified UTF-8 within the pool, without a terminating zero.
struct weft_text {
    const char *at;
    size_t len;
};

static inline bool weft_constants_is(const struct weft_text *text, const char *is) {
    return text->len == strlen(is) && memcmp(text->at, is, text->len) == 0;
}

struct weft_constants {
    const uint8_t *bytes;
    size_t len;
    size_t size;       // of the pool within them
    uint32_t *offsets; // by index; 0: none
    uint32_t count;
};

// A field or method that code refers to. The class of a dynamic call is empty.
struct weft_member {
    struct weft_text class_name; // with slashes
    struct weft_text name;
    struct weft_text descriptor;
};

// Indexes a pool of count entries, the unused first one included. The bytes may continue after the
// pool, and must outlive the index.
// Returns false if they are malformed or memory is exhausted; close the index even then.
bool weft_constants_open(struct weft_constants *c, const uint8_t *bytes, size_t len,
                         uint32_t count);
void weft_constants_close(struct weft_constants *c);

// Reads the text at an index; false if it is something else.
bool weft_constants_text(const struct weft_constants *c, uint16_t index, struct weft_text *t);

// Reads the field, method or dynamic call at an index; false if it is something else.
bool weft_constants_member(const struct weft_constants *c, uint16_t index, struct weft_member *m);

// The slots of the operand stack that a field takes: 2 for long and double, 1 for others.
unsigned weft_constants_slots(const struct weft_text *descriptor);

// The slots of a method's arguments, without the object, and of its result.
unsigned weft_constants_arguments(const struct weft_text *descriptor, unsigned *result);
