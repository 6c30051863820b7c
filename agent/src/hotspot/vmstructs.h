// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the tables that HotSpot exports for the serviceability agent: offsets, sizes, constants.
// All functions return false if the JVM does not export the item.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The libjvm of this process, as returned by dlopen; NULL if none.
void *weft_vmstructs_libjvm(void);

// The offset of an instance field.
bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset);

// The value of a pointer-sized static field.
bool weft_vmstructs_static(const char *type, const char *field, uintptr_t *value);

// The size of a type in bytes.
bool weft_vmstructs_size(const char *type, uint64_t *size);

// An integer constant.
bool weft_vmstructs_constant(const char *name, int32_t *value);
