// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/sums.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "wire/histogram.h"

enum { TABLES = 8, SLOTS = 1 << 12, MAX_PROBES = 64, KINDS = 32, PATIENCE = 100000 };

// The thread that sets busy owns the rest, for a few additions or for copying it out; other threads
// use another table.
struct series {
    uint32_t class_id;
    uint32_t stack;
    uint16_t kind;
    atomic_bool busy;
    _Atomic uint64_t count; // since the last collect; a hint for other threads
    int64_t sum;
    int64_t max;
    uint64_t zero;
    int first; // of the nonzero buckets
    int last;
    uint64_t buckets[WEFT_BUCKETS];
};

// Sums without a series: no room, or all tables busy. Additions need no ownership, so a sum may be
// collected later than its count.
struct rest {
    _Atomic int64_t sum;
    _Atomic int64_t max;
    _Atomic uint64_t zero;
    _Atomic uint64_t buckets[WEFT_BUCKETS];
};

static struct {
    struct series *pool;
    size_t limit;
    size_t used;
    pthread_mutex_t mutex; // guards used and additions to the tables
    struct series *_Atomic tables[TABLES][SLOTS];
    struct rest rest[KINDS];
    atomic_bool news;
} sums = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool weft_sums_init(size_t series) {
    void *memory = mmap(NULL, series * sizeof(struct series), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    sums.pool = memory;
    sums.limit = series;
    return true;
}

static uint32_t hash_of(uint16_t kind, uint32_t class_id, uint32_t stack) {
    uint64_t h = ((uint64_t)class_id << 32 | stack) * 0x9E3779B97F4A7C15U;
    h = (h ^ kind ^ h >> 29) * 0xBF58476D1CE4E5B9U;
    return (uint32_t)(h >> 32);
}

static struct series *find(unsigned table, const struct weft_sort *sort, uint32_t *slot) {
    uint32_t at = hash_of(sort->kind, sort->class_id, sort->stack) % SLOTS;
    for (int probe = 0; probe < MAX_PROBES; probe++, at = (at + 1) % SLOTS) {
        struct series *s = atomic_load_explicit(&sums.tables[table][at], memory_order_acquire);
        if (s == NULL ||
            (s->kind == sort->kind && s->stack == sort->stack && s->class_id == sort->class_id)) {
            *slot = at;
            return s;
        }
    }
    *slot = SLOTS;
    return NULL;
}

static struct series *make(unsigned table, const struct weft_sort *sort) {
    uint32_t slot;
    pthread_mutex_lock(&sums.mutex);
    struct series *s = find(table, sort, &slot);
    if (s == NULL && slot != SLOTS && sums.used < sums.limit) {
        s = &sums.pool[sums.used++];
        s->class_id = sort->class_id;
        s->stack = sort->stack;
        s->kind = sort->kind;
        atomic_store_explicit(&sums.tables[table][slot], s, memory_order_release);
    }
    pthread_mutex_unlock(&sums.mutex);
    return s;
}

static bool own(struct series *s) {
    return !atomic_load_explicit(&s->busy, memory_order_relaxed) &&
           !atomic_exchange_explicit(&s->busy, true, memory_order_acquire);
}

static void disown(struct series *s) {
    atomic_store_explicit(&s->busy, false, memory_order_release);
}

static void add_to(struct series *s, int64_t duration) {
    if (duration == 0) {
        s->zero++;
    } else {
        int at = weft_histogram_bucket(duration) - WEFT_FIRST_BUCKET;
        bool empty = atomic_load_explicit(&s->count, memory_order_relaxed) == s->zero;
        s->first = empty || at < s->first ? at : s->first;
        s->last = empty || at > s->last ? at : s->last;
        s->buckets[at]++;
        s->sum += duration;
        s->max = duration > s->max ? duration : s->max;
    }
    uint64_t count = atomic_load_explicit(&s->count, memory_order_relaxed);
    atomic_store_explicit(&s->count, count + 1, memory_order_relaxed);
}

static void add_to_rest(uint16_t kind, int64_t duration) {
    struct rest *r = &sums.rest[kind % KINDS];
    if (duration == 0) {
        atomic_fetch_add(&r->zero, 1);
        return;
    }
    int64_t max = atomic_load(&r->max);
    while (duration > max && !atomic_compare_exchange_weak(&r->max, &max, duration)) {
    }
    atomic_fetch_add(&r->sum, duration);
    atomic_fetch_add(&r->buckets[weft_histogram_bucket(duration) - WEFT_FIRST_BUCKET], 1);
}

void weft_sums_add(const struct weft_sort *sort, int64_t duration, unsigned home) {
    duration = duration < 0 ? 0 : duration;
    if (!atomic_load_explicit(&sums.news, memory_order_relaxed)) {
        atomic_store_explicit(&sums.news, true, memory_order_relaxed);
    }
    for (unsigned i = 0; i < TABLES; i++) {
        unsigned table = (home + i) % TABLES;
        uint32_t slot;
        struct series *s = find(table, sort, &slot);
        if (s == NULL) {
            s = make(table, sort);
        }
        if (s == NULL) {
            break; // no room; other tables are probably full too
        }
        if (own(s)) {
            add_to(s, duration);
            disown(s);
            return;
        }
    }
    add_to_rest(sort->kind, duration);
}

bool weft_sums_have_news(void) {
    return atomic_load_explicit(&sums.news, memory_order_relaxed);
}

// The sender can wait, but a preempted owner may take longer.
static bool own_patiently(struct series *s) {
    for (int i = 0; i < PATIENCE; i++) {
        if (own(s)) {
            return true;
        }
    }
    return false;
}

static bool collect_series(struct series *s, const struct weft_sink *sink) {
    uint64_t buckets[WEFT_BUCKETS];
    uint16_t n = 0;
    if (atomic_load_explicit(&s->count, memory_order_relaxed) == 0) {
        return true;
    }
    if (!sink->room(sink->to)) {
        return false;
    }
    if (!own_patiently(s)) {
        atomic_store_explicit(&sums.news, true, memory_order_relaxed);
        return true;
    }
    struct weft_series out = {
        .kind = s->kind,
        .class_id = s->class_id,
        .stack = s->stack,
        .sum = s->sum,
        .max = s->max,
        .zero = s->zero,
    };
    if (atomic_load_explicit(&s->count, memory_order_relaxed) != s->zero) {
        out.offset = s->first + WEFT_FIRST_BUCKET;
        for (int i = s->first; i <= s->last; i++) {
            buckets[n++] = s->buckets[i];
            s->buckets[i] = 0;
        }
    }
    s->sum = s->max = 0;
    s->zero = 0;
    atomic_store_explicit(&s->count, 0, memory_order_relaxed);
    disown(s);
    sink->put(sink->to, &out, buckets, n);
    return true;
}

static bool collect_rest(int kind, const struct weft_sink *sink) {
    struct rest *r = &sums.rest[kind];
    uint64_t buckets[WEFT_BUCKETS];
    int first = WEFT_BUCKETS;
    int last = -1;
    if (!sink->room(sink->to)) {
        return false;
    }
    for (int i = 0; i < WEFT_BUCKETS; i++) {
        buckets[i] = atomic_load_explicit(&r->buckets[i], memory_order_relaxed) == 0
                         ? 0
                         : atomic_exchange(&r->buckets[i], 0);
        if (buckets[i] != 0) {
            first = first < i ? first : i;
            last = i;
        }
    }
    struct weft_series out = {
        .kind = (uint16_t)kind,
        .flags = WEFT_SERIES_OVERFLOW,
        .zero = atomic_exchange(&r->zero, 0),
        .sum = atomic_exchange(&r->sum, 0),
        .max = atomic_exchange(&r->max, 0),
    };
    if (last < 0 && out.zero == 0 && out.sum == 0) {
        return true;
    }
    out.offset = last < 0 ? 0 : first + WEFT_FIRST_BUCKET;
    sink->put(sink->to, &out, buckets + (last < 0 ? 0 : first),
              (uint16_t)(last < 0 ? 0 : last - first + 1));
    return true;
}

static bool collect_all(const struct weft_sink *sink) {
    for (size_t table = 0; table < TABLES; table++) {
        for (size_t slot = 0; slot < SLOTS; slot++) {
            struct series *s =
                atomic_load_explicit(&sums.tables[table][slot], memory_order_acquire);
            if (s != NULL && !collect_series(s, sink)) {
                return false;
            }
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        if (!collect_rest(kind, sink)) {
            return false;
        }
    }
    return true;
}

void weft_sums_collect(const struct weft_sink *sink) {
    atomic_store_explicit(&sums.news, false, memory_order_relaxed);
    if (!collect_all(sink)) {
        atomic_store_explicit(&sums.news, true, memory_order_relaxed);
    }
}
