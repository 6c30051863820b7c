// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// The source lines of a method.

#pragma once

#include <jvmti.h>
#include <stdint.h>

#include "wire/wire.h"

// Returns the number of lines of a method, ascending by the bytecode index at which they begin; 0
// if they are unknown. Free the lines.
uint16_t weft_line_table(jmethodID method, struct weft_line **lines);
