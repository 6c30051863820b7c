// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/tids.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct place {
    uint64_t thread; // 0: free
    pid_t tid;
    struct weft_buffer *buffer; // NULL: it has none yet
};

// Held while a buffer is read, so that its thread cannot close it meanwhile.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct place places[WEFT_TIDS_MAX];
static size_t size;
static size_t unbuffered; // places of threads without a buffer
static uint64_t ends;

static __thread size_t own; // the current thread's place plus 1; 0: none

// The place of a thread, or the first free one, or the number of places. The caller holds the
// mutex.
static size_t find(uint64_t thread) {
    size_t place = 0;
    while (place < size && places[place].thread != thread) {
        place++;
    }
    return place;
}

static size_t put(const struct place *p) {
    size_t place = find(0);
    if (place == WEFT_TIDS_MAX) {
        return 0;
    }
    size = place == size ? size + 1 : size;
    places[place] = *p;
    return place + 1;
}

static void clear(size_t place) {
    unbuffered -= places[place].buffer == NULL;
    places[place] = (struct place){0};
    while (size > 0 && places[size - 1].thread == 0) {
        size--;
    }
}

void weft_tids_enter(uint64_t thread, struct weft_buffer *buffer) {
    const struct place p = {thread, (pid_t)syscall(SYS_gettid), buffer};
    pthread_mutex_lock(&mutex);
    size_t known = unbuffered > 0 ? find(thread) : size;
    if (known < size) {
        clear(known);
    }
    own = put(&p);
    pthread_mutex_unlock(&mutex);
}

void weft_tids_leave(uint64_t thread) {
    pthread_mutex_lock(&mutex);
    ends++;
    size_t place = own > 0 ? own - 1 : unbuffered > 0 ? find(thread) : size;
    if (place < size && places[place].thread == thread) {
        clear(place);
    }
    own = 0;
    pthread_mutex_unlock(&mutex);
}

uint64_t weft_tids_ends(void) {
    pthread_mutex_lock(&mutex);
    uint64_t now = ends;
    pthread_mutex_unlock(&mutex);
    return now;
}

bool weft_tids_add_other(uint64_t thread, pid_t tid, uint64_t ends_before) {
    const struct place p = {.thread = thread, .tid = tid};
    pthread_mutex_lock(&mutex);
    bool current = ends == ends_before;
    if (current && find(thread) == size && put(&p) != 0) {
        unbuffered++;
    }
    pthread_mutex_unlock(&mutex);
    return current;
}

bool weft_tids_has(uint64_t thread) {
    pthread_mutex_lock(&mutex);
    bool has = find(thread) < size;
    pthread_mutex_unlock(&mutex);
    return has;
}

size_t weft_tids_size(void) {
    pthread_mutex_lock(&mutex);
    size_t now = size;
    pthread_mutex_unlock(&mutex);
    return now;
}

bool weft_tids_look(size_t place, struct weft_tid *to) {
    pthread_mutex_lock(&mutex);
    bool used = place < size && places[place].thread != 0;
    if (used) {
        const struct place *p = &places[place];
        *to = (struct weft_tid){.thread = p->thread, .tid = p->tid, .idle = true};
        if (p->buffer != NULL) {
            to->idle = weft_buffer_idle(p->buffer);
            to->written = atomic_load_explicit(&p->buffer->written, memory_order_acquire);
        }
    }
    pthread_mutex_unlock(&mutex);
    return used;
}
