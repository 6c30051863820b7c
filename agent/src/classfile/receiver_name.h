// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names the object that a method locks, or on which it calls a method, as the source does.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "classfile/receiver.h"

enum { WEFT_RECEIVER_MAX = 257 }; // bytes of a name, with its end

// Names the object that is locked, or on which a method is called, at a location:
// "Inventory.lock" for a field, static or not, "Inventory.rw.readLock()" for the result of a method
// without arguments, "local lock" for a variable that an inner class has captured. Returns false
// for anything else: this, a class, an element of an array, another local variable, a task that is
// started.
bool weft_receiver_name(const struct weft_code *code, uint32_t at, enum weft_use use,
                        char name[WEFT_RECEIVER_MAX]);
