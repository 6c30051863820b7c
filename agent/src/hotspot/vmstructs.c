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
    const char *name_column;
    const char *value_columns[2];
    bool has_fields;

    bool looked; // the rest is filled in, if the JVM exports it
    const char *first;
    uint64_t stride;
    uint64_t name_at;
    uint64_t value_at[2];
    uint64_t field_at;
    uint64_t static_at;
};

enum { VALUE, STATIC_ADDRESS };

static struct table structs = {
    .array = "gHotSpotVMStructs",
    .prefix = "gHotSpotVMStructEntry",
    .name_column = "TypeNameOffset",
    .value_columns = {"OffsetOffset", "AddressOffset"},
    .has_fields = true,
};
static struct table types = {
    .array = "gHotSpotVMTypes",
    .prefix = "gHotSpotVMTypeEntry",
    .name_column = "TypeNameOffset",
    .value_columns = {"SizeOffset"},
};
static struct table constants = {
    .array = "gHotSpotVMIntConstants",
    .prefix = "gHotSpotVMIntConstantEntry",
    .name_column = "NameOffset",
    .value_columns = {"ValueOffset"},
};

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

// Looks up the symbols of a table, once: more than 40 items are read from it.
static bool open_table(struct table *t) {
    void *jvm = t->looked ? NULL : weft_vmstructs_libjvm();
    const char *const *array = jvm == NULL ? NULL : dlsym(jvm, t->array);
    if (array != NULL && exported(jvm, t, "ArrayStride", &t->stride) &&
        exported(jvm, t, t->name_column, &t->name_at) &&
        exported(jvm, t, t->value_columns[VALUE], &t->value_at[VALUE]) &&
        (!t->has_fields ||
         (exported(jvm, t, t->value_columns[STATIC_ADDRESS], &t->value_at[STATIC_ADDRESS]) &&
          exported(jvm, t, "FieldNameOffset", &t->field_at) &&
          exported(jvm, t, "IsStaticOffset", &t->static_at)))) {
        t->first = *array;
    }
    t->looked = true;
    return t->first != NULL;
}

// Copies the value of the entry of a name. Field is NULL in tables other than structs.
static bool find(struct table *t, const char *name, const char *field, int column, void *value,
                 size_t size) {
    if (!open_table(t)) {
        return false;
    }
    for (const char *entry = t->first, *end;; entry += t->stride) {
        int32_t entry_static = 0;
        memcpy(&end, entry + t->name_at, sizeof end);
        if (end == NULL) {
            return false;
        }
        if (field != NULL) {
            memcpy(&entry_static, entry + t->static_at, sizeof entry_static);
        }
        if (has_text(entry, t->name_at, name) &&
            (entry_static != 0) == (column == STATIC_ADDRESS) &&
            (field == NULL || has_text(entry, t->field_at, field))) {
            memcpy(value, entry + t->value_at[column], size);
            return true;
        }
    }
}

bool weft_vmstructs_offset(const char *type, const char *field, ptrdiff_t *offset) {
    return find(&structs, type, field, VALUE, offset, sizeof *offset) && *offset >= 0 &&
           *offset < 16384; // sanity check
}

bool weft_vmstructs_static(const char *type, const char *field, uintptr_t *value) {
    uintptr_t at = 0;
    if (!find(&structs, type, field, STATIC_ADDRESS, &at, sizeof at) || at == 0) {
        return false;
    }
    *value = word_at(at);
    return true;
}

bool weft_vmstructs_size(const char *type, uint64_t *size) {
    return find(&types, type, NULL, VALUE, size, sizeof *size);
}

bool weft_vmstructs_constant(const char *name, int32_t *value) {
    return find(&constants, name, NULL, VALUE, value, sizeof *value);
}
