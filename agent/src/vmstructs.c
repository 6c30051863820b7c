// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// At which offset does HotSpot keep a field? See vmstructs.h.

#include "vmstructs.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

void *weft_libjvm(void) {
    return dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
}

static bool constant(void *jvm, const char *name, uint64_t *value) {
    const uint64_t *symbol = dlsym(jvm, name);
    if (symbol == NULL) {
        return false;
    }
    *value = *symbol;
    return true;
}

bool weft_vmstruct_offset(const char *type, const char *field, ptrdiff_t *offset) {
    void *jvm = weft_libjvm();
    if (jvm == NULL) {
        return false;
    }
    uint64_t type_at;
    uint64_t field_at;
    uint64_t static_at;
    uint64_t offset_at;
    uint64_t stride;
    const char *const *table = dlsym(jvm, "gHotSpotVMStructs");
    if (table == NULL || *table == NULL ||
        !constant(jvm, "gHotSpotVMStructEntryTypeNameOffset", &type_at) ||
        !constant(jvm, "gHotSpotVMStructEntryFieldNameOffset", &field_at) ||
        !constant(jvm, "gHotSpotVMStructEntryIsStaticOffset", &static_at) ||
        !constant(jvm, "gHotSpotVMStructEntryOffsetOffset", &offset_at) ||
        !constant(jvm, "gHotSpotVMStructEntryArrayStride", &stride)) {
        return false;
    }
    for (const char *entry = *table;; entry += stride) {
        const char *entry_type;
        const char *entry_field;
        int32_t is_static;
        uint64_t entry_offset;
        memcpy(&entry_type, entry + type_at, sizeof entry_type);
        memcpy(&entry_field, entry + field_at, sizeof entry_field);
        if (entry_type == NULL || entry_field == NULL) {
            return false;
        }
        memcpy(&is_static, entry + static_at, sizeof is_static);
        if (is_static == 0 && strcmp(entry_type, type) == 0 && strcmp(entry_field, field) == 0) {
            memcpy(&entry_offset, entry + offset_at, sizeof entry_offset);
            *offset = (ptrdiff_t)entry_offset;
            return entry_offset < 16384; // a sane one
        }
    }
}
