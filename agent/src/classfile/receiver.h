// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds out where a method takes an object from: the object that it locks, or on which it calls a
// method.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "classfile/constants.h"
#include "classfile/operands.h"

struct weft_code {
    const uint8_t *bytes;
    uint32_t size;
    bool is_static;
    uint16_t parameters; // slots of local variables, including this
    const struct weft_constants *constants;
};

// Whether a location may be that of a monitorenter, or of a call that has a receiver. Needs no
// constants.
bool weft_receiver_may_lock(const struct weft_code *code, uint32_t at);
bool weft_receiver_may_call(const struct weft_code *code, uint32_t at);

// The source of the object of the monitorenter or call at a location. The location of a
// monitorenter may be the one after it. Unknown for the call of a task, as with Runnable.run.
struct weft_source weft_receiver_find(const struct weft_code *code, uint32_t at);
