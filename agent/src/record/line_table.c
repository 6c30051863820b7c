// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/line_table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "hotspot/jvm.h"

static int by_start(const void *left, const void *right) {
    const struct weft_line *a = left;
    const struct weft_line *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

uint16_t weft_line_table(jmethodID method, struct weft_line **lines) {
    jint count = 0;
    jvmtiLineNumberEntry *entries = NULL;
    *lines = NULL;
    if ((*weft_jvm.ti)->GetLineNumberTable(weft_jvm.ti, method, &count, &entries) !=
        JVMTI_ERROR_NONE) {
        return 0;
    }
    uint16_t taken = count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
    struct weft_line *table = malloc(((size_t)taken + 1) * sizeof *table);
    if (table == NULL) {
        taken = 0;
    }
    bool ascending = true; // compilers nearly always sort it
    for (uint16_t i = 0; i < taken; i++) {
        table[i] = (struct weft_line){(uint32_t)entries[i].start_location,
                                      (uint32_t)entries[i].line_number};
        ascending = ascending && (i == 0 || table[i - 1].start <= table[i].start);
    }
    if (!ascending) {
        qsort(table, taken, sizeof *table, by_start);
    }
    weft_jvm_deallocate(entries);
    *lines = table;
    return taken;
}
