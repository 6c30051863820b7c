// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a method contains a call that weft_rewrite adds. Other agents may have put code before
// it.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "classfile/constants.h"
#include "classfile/rewrite.h"

bool weft_called(const struct weft_constants *pool, const uint8_t *code, uint32_t size,
                 const struct weft_calls *calls, const struct weft_call *call);
