// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts a call before the first instruction of a method: its Code attribute, rewritten (JVMS 4.7.3).

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/constants.h"
#include "wire/bytes.h"

// aload_0, invokestatic and its two operands. Branches are relative, and the padding of switches
// depends on the position modulo 4, so instructions that move by 4 bytes stay as they are.
enum { WEFT_PROLOGUE_BYTES = 4 };

// Appends a Code attribute's content (without name and length) that passes the object to a static
// method first. The method must not be static. Callee is the constant pool index of the static
// method's Methodref. False if the attribute is malformed, has a table that is not known, or grows
// beyond a limit of the format; the output is then incomplete.
bool weft_prologue_add(const struct weft_constants *pool, const uint8_t *code, size_t len,
                       uint16_t callee, struct weft_bytes *out);
