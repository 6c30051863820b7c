// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "send/process_context.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "wire/bytes.h"

// For older headers: Linux 5.17, 3.17 and 6.3.
#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC       1U
#define MFD_ALLOW_SEALING 2U
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

#define NAME "OTEL_CTX"

// The header, as OTEP 4719 defines it. Readers take it for valid once the time is not 0.
struct header {
    char signature[8];
    uint32_t version;
    uint32_t payload_size;
    _Atomic uint64_t published; // nanoseconds of CLOCK_BOOTTIME
    uint64_t payload;           // its address
};

_Static_assert(sizeof(struct header) == 32, "the header of OTEP 4719 has 32 bytes");

enum { VERSION = 2, LINE_SIZE = 512 };

bool weft_process_context_exists(void) {
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) {
        return true; // it cannot be excluded
    }
    char line[LINE_SIZE];
    bool found = false;
    bool whole = true; // the line begins here
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        const char *name = whole ? strpbrk(line, "/[") : NULL;
        found = name != NULL &&
                (strncmp(name, "[anon_shmem:" NAME, sizeof "[anon_shmem:" NAME - 1) == 0 ||
                 strncmp(name, "[anon:" NAME, sizeof "[anon:" NAME - 1) == 0 ||
                 strncmp(name, "/memfd:" NAME, sizeof "/memfd:" NAME - 1) == 0);
        whole = strchr(line, '\n') != NULL;
    }
    (void)fclose(maps);
    return found;
}

// Protocol buffers: a field with a length.
enum { VARINT_BITS = 7, WIRE_LENGTH = 2, TAG_BITS = 3 };

static void put_varint(struct weft_bytes *b, uint64_t v) {
    do {
        uint8_t byte = (uint8_t)(v & 0x7f);
        v >>= VARINT_BITS;
        byte |= v != 0 ? 0x80 : 0;
        weft_bytes_append(b, &byte, 1);
    } while (v != 0);
}

static void put_field(struct weft_bytes *b, unsigned number, const void *data, size_t len) {
    put_varint(b, number << TAG_BITS | WIRE_LENGTH);
    put_varint(b, len);
    weft_bytes_append(b, data, len);
}

// The fields of opentelemetry.proto.common.v1 and of ProcessContext.
enum {
    KEY = 1,
    VALUE = 2,
    STRING_VALUE = 1,
    ARRAY_VALUE = 5,
    RESOURCE_ATTRIBUTES = 1,
    RESOURCE = 1,
    ATTRIBUTES = 2
};

// Appends a KeyValue as a field; value is the encoded AnyValue.
static void put_pair(struct weft_bytes *b, unsigned number, const char *key,
                     const struct weft_bytes *value) {
    struct weft_bytes pair = {0};
    put_field(&pair, KEY, key, strlen(key));
    put_field(&pair, VALUE, value->data, value->len);
    put_field(b, number, pair.data, pair.len);
    b->failed = b->failed || pair.failed || value->failed;
    weft_bytes_free(&pair);
}

static void put_text(struct weft_bytes *b, unsigned number, const char *key, const char *text) {
    struct weft_bytes value = {0};
    put_field(&value, STRING_VALUE, text, strlen(text));
    put_pair(b, number, key, &value);
    weft_bytes_free(&value);
}

// Encodes a ProcessContext. The records of threads have no attributes, so the map of keys is empty.
static struct weft_bytes encode(const struct weft_attribute *list, uint16_t count) {
    struct weft_bytes resource = {0};
    for (uint16_t i = 0; i < count; i++) {
        put_text(&resource, RESOURCE_ATTRIBUTES, list[i].key, list[i].value);
    }
    struct weft_bytes context = {0};
    put_field(&context, RESOURCE, resource.data, resource.len);
    context.failed = context.failed || resource.failed;
    weft_bytes_free(&resource);
    put_text(&context, ATTRIBUTES, "threadlocal.schema_version", "tlsdesc_v1_dev");
    struct weft_bytes none = {0};
    put_field(&none, ARRAY_VALUE, NULL, 0);
    put_pair(&context, ATTRIBUTES, "threadlocal.attribute_key_map", &none);
    weft_bytes_free(&none);
    return context;
}

// glibc has a function for it since 2.27 only.
static int memory_file(unsigned flags) {
    return (int)syscall(SYS_memfd_create, NAME, flags);
}

// Maps memory whose name shows in /proc/self/maps. NULL: the kernel does not allow that.
static void *map_named(size_t size) {
    int file = memory_file(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (file < 0) {
        file = memory_file(MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
    void *at = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)size) == 0) {
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
    bool named = at != MAP_FAILED;
    if (!named) {
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        named = at != MAP_FAILED && prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, size, NAME) == 0;
    }
    if (at != MAP_FAILED && (!named || madvise(at, size, MADV_DONTFORK) != 0)) {
        (void)munmap(at, size);
        return NULL;
    }
    return at == MAP_FAILED ? NULL : at;
}

// What this agent has published.
static struct header *own;
static size_t own_size;
static bool tried;

static void publish(const struct weft_attribute *list, uint16_t count) {
    if (weft_process_context_exists()) {
        return;
    }
    struct weft_bytes payload = encode(list, count);
    struct header *header = NULL;
    size_t size = sizeof *header + payload.len;
    if (!payload.failed) {
        header = map_named(size);
    }
    if (header == NULL) {
        weft_bytes_free(&payload);
        return;
    }
    memcpy(header + 1, payload.data, payload.len);
    memcpy(header->signature, NAME, sizeof header->signature);
    header->version = VERSION;
    header->payload_size = (uint32_t)payload.len;
    header->payload = (uint64_t)(uintptr_t)(header + 1);
    weft_bytes_free(&payload);
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    const uint64_t second = 1000000000;
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store(&header->published, (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec);
    // Again, since readers may watch this call; the kernel may not know it.
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, size, NAME);
    own = header;
    own_size = size;
}

bool weft_process_context_publish(const struct weft_attribute *list, uint16_t count) {
    if (!tried) {
        tried = true;
        publish(list, count);
    }
    return own != NULL;
}

void weft_process_context_withdraw(void) {
    tried = false;
    if (own != NULL) {
        atomic_store(&own->published, 0); // for readers that have found it already
        (void)munmap(own, own_size);
        own = NULL;
    }
}
