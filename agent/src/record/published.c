// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/published.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/thread_context.h"

#define SYMBOL "otel_thread_ctx_v1"

enum { MAX_LIBRARIES = 512, PERIOD_NS = 1000000000 };

// The record.
enum { TRACE_ID = 0, SPAN_ID = 16, VALID = 24, FLAGS = 25, SAMPLED = 1 };

static _Atomic(void *) library; // its handle; NULL: not found
static _Atomic(char *) name;    // set before
static atomic_bool is_flagless; // its flags are always 0; that does not mean unsampled
static _Atomic int64_t next_look;
static _Atomic uint64_t loads; // by the dynamic linker at the last look

struct libraries {
    char *paths[MAX_LIBRARIES];
    size_t count;
    bool is_first; // nothing was looked at yet
};

// The dynamic linker is locked during this call, so libraries are not opened here.
static int collect(struct dl_phdr_info *info, size_t size, void *to) {
    struct libraries *all = to;
    (void)size;
    if (all->is_first) {
        all->is_first = false;
        if (info->dlpi_adds == atomic_exchange(&loads, info->dlpi_adds)) {
            return 1;
        }
    }
    if (info->dlpi_name != NULL && info->dlpi_name[0] != '\0' && all->count < MAX_LIBRARIES) {
        all->paths[all->count] = strdup(info->dlpi_name);
        all->count += all->paths[all->count] != NULL;
    }
    return 0;
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

// Whether the process publishes that its records are those of Datadog's profiler, in the process
// context of OTEP 4719. Reads memory through the kernel, as the publisher may unmap it meanwhile.
static bool is_described_as_flagless(void) {
    enum { POINTER_AT = 24, SIZE_AT = 12, HEADER = 32, MAX_PAYLOAD = 1 << 16 };
    static const char key[] = "datadog.local_root_span_id";
    char line[512];
    uint8_t header[HEADER];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    while (maps != NULL && memory >= 0 && !found && fgets(line, sizeof line, maps) != NULL) {
        uint64_t start = strtoull(line, NULL, 16);
        if (strstr(line, "OTEL_CTX") == NULL ||
            pread(memory, header, HEADER, (off_t)start) != HEADER ||
            memcmp(header, "OTEL_CTX", 8) != 0) {
            continue;
        }
        uint32_t size;
        uint64_t at;
        memcpy(&size, header + SIZE_AT, sizeof size);
        memcpy(&at, header + POINTER_AT, sizeof at);
        uint8_t *payload = size > 0 && size <= MAX_PAYLOAD ? malloc(size) : NULL;
        found = payload != NULL && pread(memory, payload, size, (off_t)at) == (ssize_t)size &&
                memmem(payload, size, key, sizeof key - 1) != NULL;
        free(payload);
    }
    if (maps != NULL) {
        fclose(maps);
    }
    if (memory >= 0) {
        close(memory);
    }
    return found;
}

// Keeps the library if it publishes spans: it is never closed.
static bool take(const char *path) {
    void *handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == NULL) {
        return false;
    }
    void *slot = dlsym(handle, SYMBOL);
    bool is_other = slot != NULL && slot != weft_thread_context_slot();
    char *copy = is_other ? strdup(base_of(path)) : NULL;
    if (copy == NULL) {
        dlclose(handle);
        return false;
    }
    atomic_store(&is_flagless, strncmp(copy, "libjavaProfiler", strlen("libjavaProfiler")) == 0 ||
                                   is_described_as_flagless());
    atomic_store(&name, copy);
    atomic_store(&library, handle);
    return true;
}

void weft_published_look(int64_t now, bool at_once) {
    int64_t next = atomic_load(&next_look);
    if (atomic_load(&library) != NULL || (now < next && !at_once) ||
        !atomic_compare_exchange_strong(&next_look, &next, now + PERIOD_NS)) {
        return;
    }
    struct libraries *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return;
    }
    all->is_first = true;
    dl_iterate_phdr(collect, all);
    bool found = false;
    for (size_t i = 0; i < all->count; i++) {
        found = found || take(all->paths[i]);
        free(all->paths[i]);
    }
    free(all);
}

const char *weft_published_library(void) {
    return atomic_load(&library) == NULL ? NULL : atomic_load(&name);
}

static uint64_t big_endian(const volatile uint8_t *bytes) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        n = n << 8 | bytes[i];
    }
    return n;
}

bool weft_published_read(void *const **slot, struct weft_span *span) {
    if (*slot == NULL) {
        void *handle = atomic_load_explicit(&library, memory_order_acquire);
        *slot = handle == NULL ? NULL : dlsym(handle, SYMBOL);
        if (*slot == NULL) {
            return false;
        }
    }
    const volatile uint8_t *record = **slot; // this thread itself writes it
    *span = (struct weft_span){0};
    if (record != NULL && record[VALID] == 1 &&
        ((record[FLAGS] & SAMPLED) != 0 ||
         atomic_load_explicit(&is_flagless, memory_order_relaxed))) {
        span->trace_high = big_endian(record + TRACE_ID);
        span->trace_low = big_endian(record + TRACE_ID + 8);
        span->id = big_endian(record + SPAN_ID);
    }
    return true;
}
