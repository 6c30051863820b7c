// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/findings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "wire/clock.h"

// The sender may be starved of processor time or blocked in a host name lookup.
#define PATIENCE ((int64_t)10 * 1000000000)

// A sender that takes nothing: further findings would be outdated.
enum { MAX_POSTED = 8 };

struct weft_posted_findings {
    struct weft_posted_findings *next;
    struct weft_finding *list;
    size_t count;
};

static _Atomic(struct weft_posted_findings *) posted; // newest first
static atomic_int posted_count;

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    atomic_bool wanted;
    bool ready;
    struct weft_look *looks;
    size_t count;
} look = {.mutex = PTHREAD_MUTEX_INITIALIZER};

// Held during a request: an attach and a control may coincide.
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

// Looks and findings begin with the thread's id.
static int by_thread(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

void weft_findings_init(void) {
    weft_clock_condition(&look.answered);
}

bool weft_findings_look(void (*wake)(void), struct weft_look **looks, size_t *count) {
    pthread_mutex_lock(&asking);
    int64_t until = weft_clock() + PATIENCE;
    pthread_mutex_lock(&look.mutex);
    look.ready = false;
    atomic_store(&look.wanted, true);
    wake();
    while (!look.ready && weft_clock_await(&look.answered, &look.mutex, until)) {
    }
    atomic_store(&look.wanted, false);
    bool ok = look.ready;
    *looks = ok ? look.looks : NULL;
    *count = ok ? look.count : 0;
    if (ok) {
        look.looks = NULL;
    }
    look.ready = false;
    pthread_mutex_unlock(&look.mutex);
    pthread_mutex_unlock(&asking);
    if (*count > 1) {
        qsort(*looks, *count, sizeof **looks, by_thread);
    }
    return ok;
}

struct weft_look weft_findings_look_at(const struct weft_look *looks, size_t count,
                                       uint64_t thread) {
    struct weft_look key = {.thread = thread, .idle = true};
    const struct weft_look *at =
        count == 0 ? NULL : bsearch(&key, looks, count, sizeof *looks, by_thread);
    return at == NULL ? key : *at;
}

void weft_findings_post(struct weft_finding *found, size_t count) {
    struct weft_posted_findings *p = malloc(sizeof *p);
    if (p == NULL || count == 0 || atomic_load(&posted_count) >= MAX_POSTED) {
        free(p);
        free(found);
        return;
    }
    atomic_fetch_add(&posted_count, 1);
    qsort(found, count, sizeof *found, by_thread);
    *p = (struct weft_posted_findings){.list = found, .count = count};
    p->next = atomic_load(&posted);
    while (!atomic_compare_exchange_weak(&posted, &p->next, p)) {
    }
}

// Appends the posted findings to the queue, in the order of time.
static void fetch(struct weft_findings *f) {
    struct weft_posted_findings *p = atomic_exchange(&posted, NULL);
    struct weft_posted_findings *in_order = NULL;
    while (p != NULL) {
        struct weft_posted_findings *next = p->next;
        p->next = in_order;
        in_order = p;
        p = next;
    }
    struct weft_posted_findings **end = &f->queue;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = in_order;
}

void weft_findings_begin(struct weft_findings *f) {
    f->looking = atomic_load(&look.wanted);
    f->look_count = 0;
    fetch(f);
    struct weft_posted_findings *p = f->queue;
    if (f->list == NULL && p != NULL) {
        f->list = p->list;
        f->count = p->count;
        f->queue = p->next;
        free(p);
        atomic_fetch_sub(&posted_count, 1);
    }
}

void weft_findings_note_look(struct weft_findings *f, const struct weft_look *at) {
    if (!f->looking) {
        return;
    }
    if (f->look_count == f->look_cap) {
        size_t cap = f->look_cap == 0 ? 256 : f->look_cap * 2;
        struct weft_look *grown = realloc(f->looks, cap * sizeof *grown);
        if (grown == NULL) {
            f->looking = false;
            return;
        }
        f->looks = grown;
        f->look_cap = cap;
    }
    f->looks[f->look_count++] = *at;
}

void weft_findings_drop(struct weft_findings *f) {
    do {
        free(f->list);
        f->list = NULL;
        f->count = 0;
        weft_findings_begin(f);
    } while (f->list != NULL);
}

struct weft_finding *weft_findings_of(struct weft_findings *f, uint64_t thread) {
    struct weft_finding key = {.thread = thread};
    return f->count == 0 ? NULL : bsearch(&key, f->list, f->count, sizeof *f->list, by_thread);
}

static void answer(struct weft_findings *f) {
    struct weft_look *copy = malloc((f->look_count + 1) * sizeof *copy);
    if (copy == NULL) {
        return;
    }
    if (f->look_count > 0) {
        memcpy(copy, f->looks, f->look_count * sizeof *copy);
    }
    pthread_mutex_lock(&look.mutex);
    if (atomic_load(&look.wanted) && !look.ready) {
        free(look.looks);
        look.looks = copy;
        look.count = f->look_count;
        look.ready = true;
        copy = NULL;
        pthread_cond_signal(&look.answered);
    }
    pthread_mutex_unlock(&look.mutex);
    free(copy);
}

void weft_findings_end(struct weft_findings *f, bool complete) {
    if (f->looking) {
        answer(f);
    }
    if (!complete) {
        return;
    }
    free(f->list);
    f->list = NULL;
    f->count = 0;
}
