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

enum weft_use {
    WEFT_USE_MONITOR, // a monitorenter locks the object; the location may be the one after it
    WEFT_USE_CALL,    // a call at the location has it as its receiver
};

// Whether a location may use an object in this way. Needs no constants.
bool weft_receiver_may_use(const struct weft_code *code, uint32_t at, enum weft_use use);

// The source of the object that is used at a location. Unknown for the call of a task, as with
// Runnable.run.
struct weft_source weft_receiver_find(const struct weft_code *code, uint32_t at, enum weft_use use);
