// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of the witness: reading bytes, and the definitions so far.

#ifndef WEFT_TEST_WITNESS_PARTS_H
#define WEFT_TEST_WITNESS_PARTS_H

#include <stdio.h>

#include "witness.h"

// Numbers from the specification, deliberately not from the generated header.
enum { HELLO = 1, THREAD, CLASS, METHOD, STACK, BATCH, END, STATUS, AGGREGATE, CLOCK = 12 };

struct cursor {
    const uint8_t *at;
    size_t left;
    bool bad; // read past the end
};

// Keeps the first problem; returns false.
#define fail(w, ...)                                                                               \
    ((w)->problem[0] == '\0' ? (void)snprintf((w)->problem, sizeof(w)->problem, __VA_ARGS__)       \
                             : (void)0,                                                            \
     false)

uint64_t witness_number(struct cursor *c, size_t size);
struct cursor witness_string(struct cursor *c);

// The thread's state, created on first use.
struct witness_thread *witness_thread_of(struct witness *w, uint64_t id);

// Whether it was defined on this connection.
bool witness_defined(const struct witness *w, const uint32_t *table, uint64_t id);

// Handle the frames; false once a rule is broken.
bool witness_definition(struct witness *w, unsigned kind, struct cursor c);
bool witness_batch(struct witness *w, struct cursor c);
bool witness_aggregate(struct witness *w, struct cursor c);

#endif
