// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The operand stack of a method, as far as it is known where its objects come from.

#pragma once

#include <stdint.h>

enum { WEFT_OPERANDS = 32 };

// Where an object comes from.
struct weft_source {
    enum { WEFT_UNKNOWN, WEFT_THIS, WEFT_FIELD, WEFT_CALL } kind;
    uint16_t member; // constant of the field or method
    uint16_t of;     // a call: constant of the field it was made on; 0: on this, or static
};

// The top of the stack. Whatever is below is unknown.
struct weft_operands {
    unsigned depth;
    struct weft_source slots[WEFT_OPERANDS];
};

void weft_operands_push(struct weft_operands *s, struct weft_source v);
void weft_operands_push_unknown(struct weft_operands *s, unsigned count);
struct weft_source weft_operands_pop(struct weft_operands *s);
void weft_operands_pop_many(struct weft_operands *s, unsigned count);

// Executes dup to dup2_x2, or swap.
void weft_operands_shuffle(struct weft_operands *s, uint8_t op);

// Keeps what both stacks agree on, counted from the top.
void weft_operands_merge(struct weft_operands *into, const struct weft_operands *other);
