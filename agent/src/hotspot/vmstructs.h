// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// At which offset does HotSpot keep a field? The tables that it exports for the serviceability
// agent. All return false if the JVM does not export what is asked for.

#ifndef WEFT_VMSTRUCTS_H
#define WEFT_VMSTRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The libjvm that this process runs, as dlopen gives it; NULL if there is none.
void *weft_vmstructs_libjvm(void);

// The offset of an instance field.
bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset);

// The value of a static field of the size of a pointer.
bool weft_vmstructs_static(const char *type, const char *field, uintptr_t *value);

// The size of a type in bytes.
bool weft_vmstructs_size(const char *type, uint64_t *size);

// An integer constant.
bool weft_vmstructs_constant(const char *name, int32_t *value);

#endif
