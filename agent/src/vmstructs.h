// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// At which offset does HotSpot keep a field? The table that it exports for the serviceability
// agent.

#ifndef WEFT_VMSTRUCTS_H
#define WEFT_VMSTRUCTS_H

#include <stdbool.h>
#include <stddef.h>

// The libjvm that this process runs, as dlopen gives it; NULL if there is none.
void *weft_libjvm(void);

// The offset of an instance field. False if the JVM does not export it.
bool weft_vmstruct_offset(const char *type, const char *field, ptrdiff_t *offset);

#endif
