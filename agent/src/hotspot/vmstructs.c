// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// At which offset does HotSpot keep a field? See vmstructs.h.

#include "hotspot/vmstructs.h"

#include <dlfcn.h>
#include <string.h>

void *weft_vmstructs_libjvm(void) {
    return dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
}

// A table of the JVM: an array of entries that ends with one without a name. The offsets of the
// columns are exported beside it.
struct table {
    void *jvm;
    const char *entries;
    uint64_t stride;
};

static bool exported(void *jvm, const char *name, uint64_t *value) {
    const uint64_t *symbol = dlsym(jvm, name);
    if (symbol == NULL) {
        return false;
    }
    *value = *symbol;
    return true;
}

static bool open_table(struct table *t, const char *name, const char *stride) {
    t->jvm = weft_vmstructs_libjvm();
    const char *const *entries = t->jvm == NULL ? NULL : dlsym(t->jvm, name);
    if (entries == NULL || *entries == NULL || !exported(t->jvm, stride, &t->stride)) {
        return false;
    }
    t->entries = *entries;
    return true;
}

static const char *text_at(const char *entry, uint64_t column) {
    const char *text;
    memcpy(&text, entry + column, sizeof text);
    return text;
}

// The entry of a field; NULL if there is none.
static const char *find_field(struct table *t, const char *type, const char *field,
                              bool is_static) {
    uint64_t type_at;
    uint64_t field_at;
    uint64_t static_at;
    if (!open_table(t, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride") ||
        !exported(t->jvm, "gHotSpotVMStructEntryTypeNameOffset", &type_at) ||
        !exported(t->jvm, "gHotSpotVMStructEntryFieldNameOffset", &field_at) ||
        !exported(t->jvm, "gHotSpotVMStructEntryIsStaticOffset", &static_at)) {
        return NULL;
    }
    for (const char *entry = t->entries;; entry += t->stride) {
        const char *entry_type = text_at(entry, type_at);
        const char *entry_field = text_at(entry, field_at);
        int32_t entry_static;
        if (entry_type == NULL || entry_field == NULL) {
            return NULL;
        }
        memcpy(&entry_static, entry + static_at, sizeof entry_static);
        if ((entry_static != 0) == is_static && strcmp(entry_type, type) == 0 &&
            strcmp(entry_field, field) == 0) {
            return entry;
        }
    }
}

bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset) {
    struct table t;
    uint64_t at;
    uint64_t value;
    const char *entry = find_field(&t, type, field, false);
    if (entry == NULL || !exported(t.jvm, "gHotSpotVMStructEntryOffsetOffset", &at)) {
        return false;
    }
    memcpy(&value, entry + at, sizeof value);
    *offset = (ptrdiff_t)value;
    return value < 16384; // a sane one
}

bool weft_vmstructs_static(const char *type, const char *field, uintptr_t *value) {
    struct table t;
    uint64_t at;
    uintptr_t address;
    const char *entry = find_field(&t, type, field, true);
    if (entry == NULL || !exported(t.jvm, "gHotSpotVMStructEntryAddressOffset", &at)) {
        return false;
    }
    memcpy(&address, entry + at, sizeof address);
    if (address == 0) {
        return false;
    }
    memcpy(value, (const void *)address, sizeof *value); // NOLINT(performance-no-int-to-ptr)
    return true;
}

// Looks a name up in one of the tables of a name and a value.
static const char *find_name(struct table *t, const char *name, const char *name_column,
                             const char *value_column) {
    uint64_t name_at;
    uint64_t value_at;
    if (!exported(t->jvm, name_column, &name_at) || !exported(t->jvm, value_column, &value_at)) {
        return NULL;
    }
    for (const char *entry = t->entries;; entry += t->stride) {
        const char *entry_name = text_at(entry, name_at);
        if (entry_name == NULL) {
            return NULL;
        }
        if (strcmp(entry_name, name) == 0) {
            return entry + value_at;
        }
    }
}

bool weft_vmstructs_size(const char *type, uint64_t *size) {
    struct table t;
    const char *at;
    if (!open_table(&t, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride") ||
        (at = find_name(&t, type, "gHotSpotVMTypeEntryTypeNameOffset",
                        "gHotSpotVMTypeEntrySizeOffset")) == NULL) {
        return false;
    }
    memcpy(size, at, sizeof *size);
    return true;
}

bool weft_vmstructs_constant(const char *name, int32_t *value) {
    struct table t;
    const char *at;
    if (!open_table(&t, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride") ||
        (at = find_name(&t, name, "gHotSpotVMIntConstantEntryNameOffset",
                        "gHotSpotVMIntConstantEntryValueOffset")) == NULL) {
        return false;
    }
    memcpy(value, at, sizeof *value);
    return true;
}
