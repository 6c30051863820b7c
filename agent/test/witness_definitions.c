// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the definitions of classes, methods, stacks and threads.

#include <stdlib.h>
#include <string.h>

#include "witness_parts.h"

bool witness_defined(const struct witness *w, const uint32_t *table, uint64_t id) {
    return id < WITNESS_IDS && table[id] == (uint32_t)w->connections;
}

static bool define(struct witness *w, uint32_t *table, uint64_t id, const char *what) {
    if (id == 0 || id >= WITNESS_IDS) {
        return fail(w, "%s %llu: no good id", what, (unsigned long long)id);
    }
    table[id] = (uint32_t)w->connections;
    w->definition_frames++;
    return true;
}

// Keeps a text for printing.
static void keep(char ***texts, uint64_t id, const char *text, size_t len) {
    if (*texts == NULL) {
        *texts = calloc(WITNESS_IDS, sizeof **texts);
    }
    if (id < WITNESS_IDS && (*texts)[id] == NULL) {
        (*texts)[id] = strndup(text, len);
    }
}

// Keeps the names of the innermost methods of a stack, separated by commas.
static void keep_stack(struct witness *w, uint64_t id, struct cursor c, size_t frames) {
    char text[512] = "";
    size_t len = 0;
    for (size_t i = 0; i < frames && len < sizeof text - 1; i++) {
        uint64_t method = witness_number(&c, 4);
        witness_number(&c, 4);
        const char *name = method < WITNESS_IDS ? w->method_names[method] : NULL;
        int more = snprintf(text + len, sizeof text - len, "%s,", name == NULL ? "?" : name);
        len += (size_t)more;
    }
    keep(&w->stack_texts, id, text, sizeof text);
}

bool witness_definition(struct witness *w, unsigned kind, struct cursor c) {
    uint64_t id = witness_number(&c, kind == THREAD ? 8 : 4);
    if (kind == THREAD) {
        unsigned flags = (unsigned)witness_number(&c, 2);
        struct cursor name = witness_string(&c);
        witness_string(&c);
        struct witness_thread *t = witness_thread_of(w, id);
        t->connection = w->connections;
        t->section = 0;
        snprintf(t->name, sizeof t->name, "%.*s", (int)name.left, (const char *)name.at);
        t->worker = name.left > 7 && memcmp(name.at, "worker-", 7) == 0;
        t->main = name.left == 4 && memcmp(name.at, "main", 4) == 0;
        t->carrier = (flags & 4U) != 0;
        w->carriers += t->carrier;
        w->thread_frames++;
        return id != 0 || fail(w, "thread 0, named \"%s\", flags %u", t->name, flags);
    }
    if (kind == CLASS) {
        struct cursor name = witness_string(&c);
        if (id < WITNESS_CLASSES && name.left < sizeof w->by_class[id].name) {
            memcpy(w->by_class[id].name, name.at, name.left);
            w->by_class[id].name[name.left] = '\0';
        }
        return define(w, w->classes, id, "class") && (name.left > 0 || fail(w, "class no name"));
    }
    if (kind == METHOD) {
        uint64_t class_id = witness_number(&c, 4);
        struct cursor name = witness_string(&c);
        if (w->print != NULL) {
            keep(&w->method_names, id, (const char *)name.at, name.left);
        }
        witness_string(&c);
        witness_string(&c);
        size_t lines = (size_t)witness_number(&c, 2);
        uint64_t last = 0;
        for (size_t i = 0; i < lines; i++) {
            uint64_t start = witness_number(&c, 4);
            witness_number(&c, 4);
            if (start < last) {
                return fail(w, "method %llu: lines do not ascend", (unsigned long long)id);
            }
            last = start;
        }
        return define(w, w->methods, id, "method") &&
               (witness_defined(w, w->classes, class_id) || fail(w, "method of an unknown class"));
    }
    witness_number(&c, 2);
    size_t frames = (size_t)witness_number(&c, 2);
    if (w->print != NULL && frames > 0 && w->method_names != NULL) {
        keep_stack(w, id, c, frames);
    }
    for (size_t i = 0; i < frames; i++) {
        uint64_t method = witness_number(&c, 4);
        witness_number(&c, 4);
        if (!witness_defined(w, w->methods, method)) {
            return fail(w, "stack %llu: unknown method", (unsigned long long)id);
        }
    }
    if (c.left > 0) {
        if (witness_number(&c, 2) >= frames) {
            return fail(w, "stack %llu: a lock without a frame", (unsigned long long)id);
        }
        if (witness_string(&c).left == 0) {
            return fail(w, "stack %llu: a lock without a name", (unsigned long long)id);
        }
    }
    return define(w, w->stack_ids, id, "stack") && (!c.bad || fail(w, "stack is cut off"));
}
