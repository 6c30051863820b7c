// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "record/published.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/thread_context.h"

#define SYMBOL "otel_thread_ctx_v1"

// Exported by this library and its copies, of which one publishes spans.
#define OURS "Java_io_github_weftotel_context_Agent_changed"

enum { MAX_LIBRARIES = 512, PERIOD_NS = 1000000000 };

// The record.
enum { TRACE_ID = 0, SPAN_ID = 16, VALID = 24, FLAGS = 25, SAMPLED = 1 };

// Where a thread's copy of a variable is, for the dynamic linker's own function, which compiled
// code calls for such variables.
struct place {
    unsigned long module;
    unsigned long offset;
};

void *address_at(const struct place *place) __asm__("__tls_get_addr");

// A library that publishes spans.
struct source {
    char *name;
    bool is_flagless; // its flags are always 0; that does not mean unsampled
    // Whether its variable is at the same distance from the descriptor of every thread.
    bool has_distance;
    uintptr_t distance;
    struct place place;
};

static _Atomic(struct source *) source; // NULL: not found; never freed
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

// The part of a module's thread-local memory that belongs to this thread; if the variable is in it,
// its place is known.
struct search {
    uintptr_t slot;
    struct place place;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *to) {
    struct search *search = to;
    if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof info->dlpi_tls_data ||
        info->dlpi_tls_data == NULL) {
        return 0;
    }
    uintptr_t offset = search->slot - (uintptr_t)info->dlpi_tls_data;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS && offset < info->dlpi_phdr[i].p_memsz) {
            search->place = (struct place){info->dlpi_tls_modid, offset};
            return 1;
        }
    }
    return 0;
}

// Threads must not look the variable up by its name: that waits for the dynamic linker, which is
// locked for as long as the constructors of a library run. So it is done here, once.
//
// If the linker has laid the variable out in advance, it is at a fixed distance from the descriptor
// of each thread; glibc puts both on top of the thread's stack. Otherwise it is in a block that a
// thread gets when it first uses the module. __tls_get_addr then allocates it, as it would for the
// library itself, without that lock: the look-up by this thread has settled that the module has
// blocks. musl allocates them when it loads the library.
static bool locate(const void *slot, struct source *found) {
    struct search search = {.slot = (uintptr_t)slot};
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0;
    if (dl_iterate_phdr(find_place, &search) == 0) {
        return false;
    }
    found->place = search.place;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        (void)pthread_attr_getstack(&attributes, &stack, &size);
        (void)pthread_attr_destroy(&attributes);
    }
    found->has_distance = search.slot - (uintptr_t)stack < size;
    found->distance = search.slot - (uintptr_t)pthread_self();
    return true;
}

static void *const *slot_of(const struct source *from) {
    return from->has_distance ? (void *const *)((uintptr_t)pthread_self() + from->distance)
                              : address_at(&from->place);
}

// Keeps the library if it publishes spans: it is never closed.
static bool take(const char *path) {
    void *handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == NULL) {
        return false;
    }
    const void *slot = dlsym(handle, SYMBOL);
    bool ours = slot == weft_thread_context_slot() || dlsym(handle, OURS) != NULL;
    struct source *found = slot == NULL || ours ? NULL : calloc(1, sizeof *found);
    struct source *none = NULL;
    if (found != NULL && locate(slot, found) && (found->name = strdup(base_of(path))) != NULL) {
        found->is_flagless =
            strncmp(found->name, "libjavaProfiler", strlen("libjavaProfiler")) == 0 ||
            is_described_as_flagless();
        if (atomic_compare_exchange_strong(&source, &none, found)) {
            return true;
        }
        free(found->name);
    }
    free(found);
    dlclose(handle);
    return false;
}

void weft_published_look(int64_t now, bool at_once) {
    int64_t next = atomic_load(&next_look);
    if (atomic_load(&source) != NULL || (now < next && !at_once) ||
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
    const struct source *from = atomic_load(&source);
    return from == NULL ? NULL : from->name;
}

static uint64_t big_endian(const volatile uint8_t *bytes) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        n = n << 8 | bytes[i];
    }
    return n;
}

bool weft_published_read(void *const **slot, struct weft_span *span) {
    const struct source *from = atomic_load_explicit(&source, memory_order_acquire);
    if (*slot == NULL) {
        if (from == NULL) {
            return false;
        }
        *slot = slot_of(from);
    }
    const volatile uint8_t *record = **slot; // this thread itself writes it
    *span = (struct weft_span){0};
    if (record != NULL && record[VALID] == 1 &&
        ((record[FLAGS] & SAMPLED) != 0 || (from != NULL && from->is_flagless))) {
        span->trace_high = big_endian(record + TRACE_ID);
        span->trace_low = big_endian(record + TRACE_ID + 8);
        span->id = big_endian(record + SPAN_ID);
    }
    return true;
}
