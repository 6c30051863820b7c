// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "hotspot/vmstructs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "hotspot/words.h"

void *weft_vmstructs_libjvm(void) {
    return dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
}

// A table of the JVM: an array of entries, terminated by one without a name. Symbols with the
// prefix hold the distance of the entries and the offsets of their columns.
struct table {
    const char *array;
    const char *prefix;
};

static const struct table structs = {"gHotSpotVMStructs", "gHotSpotVMStructEntry"};
static const struct table types = {"gHotSpotVMTypes", "gHotSpotVMTypeEntry"};
static const struct table constants = {"gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntry"};

static bool exported(void *jvm, const struct table *t, const char *suffix, uint64_t *value) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", t->prefix, suffix);
    const uint64_t *symbol = dlsym(jvm, name);
    *value = symbol == NULL ? 0 : *symbol;
    return symbol != NULL;
}

static bool has_text(const char *entry, uint64_t column, const char *wanted) {
    const char *text;
    memcpy(&text, entry + column, sizeof text);
    return text != NULL && strcmp(text, wanted) == 0;
}

// Copies the value column of the entry of a name. Field is NULL in tables other than structs.
static bool find(const struct table *t, const char *name_column, const char *name,
                 const char *field, bool is_static, const char *value_column, void *value,
                 size_t size) {
    void *jvm = weft_vmstructs_libjvm();
    const char *const *array = jvm == NULL ? NULL : dlsym(jvm, t->array);
    uint64_t stride;
    uint64_t name_at;
    uint64_t value_at;
    uint64_t field_at = 0;
    uint64_t static_at = 0;
    if (array == NULL || *array == NULL || !exported(jvm, t, "ArrayStride", &stride) ||
        !exported(jvm, t, name_column, &name_at) || !exported(jvm, t, value_column, &value_at) ||
        (field != NULL && (!exported(jvm, t, "FieldNameOffset", &field_at) ||
                           !exported(jvm, t, "IsStaticOffset", &static_at)))) {
        return false;
    }
    for (const char *entry = *array, *end;; entry += stride) {
        int32_t entry_static = 0;
        memcpy(&end, entry + name_at, sizeof end);
        if (end == NULL) {
            return false;
        }
        if (field != NULL) {
            memcpy(&entry_static, entry + static_at, sizeof entry_static);
        }
        if (has_text(entry, name_at, name) && (entry_static != 0) == is_static &&
            (field == NULL || has_text(entry, field_at, field))) {
            memcpy(value, entry + value_at, size);
            return true;
        }
    }
}

bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset) {
    return find(&structs, "TypeNameOffset", type, field, false, "OffsetOffset", offset,
                sizeof *offset) &&
           *offset >= 0 && *offset < 16384; // sanity check
}

bool weft_vmstructs_static(const char *type, const char *field, uintptr_t *value) {
    uintptr_t at = 0;
    if (!find(&structs, "TypeNameOffset", type, field, true, "AddressOffset", &at, sizeof at) ||
        at == 0) {
        return false;
    }
    *value = word_at(at);
    return true;
}

bool weft_vmstructs_size(const char *type, uint64_t *size) {
    return find(&types, "TypeNameOffset", type, NULL, false, "SizeOffset", size, sizeof *size);
}

bool weft_vmstructs_constant(const char *name, int32_t *value) {
    return find(&constants, "NameOffset", name, NULL, false, "ValueOffset", value, sizeof *value);
}
