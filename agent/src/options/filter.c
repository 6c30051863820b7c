// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "options/filter.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct weft_filter weft_filter = {.generation = 1};

static struct {
    pthread_mutex_t mutex;
    char include_threads[WEFT_PATTERNS_MAX];
    char exclude_threads[WEFT_PATTERNS_MAX];
    char include_locks[WEFT_PATTERNS_MAX];
    char exclude_locks[WEFT_PATTERNS_MAX];
} patterns = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void weft_filter_apply(const struct weft_options *o) {
    pthread_mutex_lock(&patterns.mutex);
    bool changed = strcmp(patterns.include_threads, o->include_threads) != 0 ||
                   strcmp(patterns.exclude_threads, o->exclude_threads) != 0 ||
                   strcmp(patterns.include_locks, o->include_locks) != 0 ||
                   strcmp(patterns.exclude_locks, o->exclude_locks) != 0;
    memcpy(patterns.include_threads, o->include_threads, sizeof o->include_threads);
    memcpy(patterns.exclude_threads, o->exclude_threads, sizeof o->exclude_threads);
    memcpy(patterns.include_locks, o->include_locks, sizeof o->include_locks);
    memcpy(patterns.exclude_locks, o->exclude_locks, sizeof o->exclude_locks);
    atomic_store(&weft_filter.threads,
                 o->include_threads[0] != '\0' || o->exclude_threads[0] != '\0');
    atomic_store(&weft_filter.locks, o->include_locks[0] != '\0' || o->exclude_locks[0] != '\0');
    if (changed && atomic_fetch_add(&weft_filter.generation, 1) + 1 == 0) {
        atomic_fetch_add(&weft_filter.generation, 1);
    }
    pthread_mutex_unlock(&patterns.mutex);
}

// Linear in both lengths times the number of significant stars: only the last star needs
// backtracking.
static bool match_one(const char *pattern, size_t len, const char *name) {
    const char *end = pattern + len;
    const char *star = NULL;
    const char *retry = NULL;
    while (*name != '\0') {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            retry = name;
        } else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*') {
        pattern++;
    }
    return pattern == end;
}

bool weft_filter_match(const char *list, const char *name) {
    for (;;) {
        size_t len = strcspn(list, "|");
        if (match_one(list, len, name)) {
            return true;
        }
        if (list[len] == '\0') {
            return false;
        }
        list += len + 1;
    }
}

static bool wanted(const char *include, const char *exclude, const char *name) {
    pthread_mutex_lock(&patterns.mutex);
    bool ok = (include[0] == '\0' || weft_filter_match(include, name)) &&
              (exclude[0] == '\0' || !weft_filter_match(exclude, name));
    pthread_mutex_unlock(&patterns.mutex);
    return ok;
}

bool weft_filter_thread(const char *name) {
    return wanted(patterns.include_threads, patterns.exclude_threads, name);
}

bool weft_filter_lock(const char *class_name) {
    return wanted(patterns.include_locks, patterns.exclude_locks, class_name);
}
