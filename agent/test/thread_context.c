// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that publishes the current span of each thread by OTEP 4947, as a Java program says.

#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct record {
    uint8_t trace[16];
    uint8_t span[8];
    uint8_t valid;
    uint8_t flags;
    uint16_t attributes_size;
};

__attribute__((visibility("default"))) __thread struct record *otel_thread_ctx_v1;

static void put(uint8_t *to, uint64_t n) {
    for (int i = 7; i >= 0; i--, n >>= 8) {
        to[i] = (uint8_t)n;
    }
}

JNIEXPORT void JNICALL Java_Published_publish(JNIEnv *env, jclass class, jlong trace, jlong span,
                                              jboolean valid, jbyte flags);

JNIEXPORT void JNICALL Java_Published_publish(JNIEnv *env, jclass class, jlong trace, jlong span,
                                              jboolean valid, jbyte flags) {
    (void)env;
    (void)class;
    if (otel_thread_ctx_v1 == NULL) {
        otel_thread_ctx_v1 = calloc(1, sizeof *otel_thread_ctx_v1);
    }
    otel_thread_ctx_v1->valid = 0;
    put(otel_thread_ctx_v1->trace, 0);
    put(otel_thread_ctx_v1->trace + 8, (uint64_t)trace);
    put(otel_thread_ctx_v1->span, (uint64_t)span);
    otel_thread_ctx_v1->flags = (uint8_t)flags;
    otel_thread_ctx_v1->valid = valid;
}

JNIEXPORT jboolean JNICALL Java_Published_describe(JNIEnv *env, jclass class);

// Publishes a process context of OTEP 4719 with nothing but an attribute of Datadog's.
JNIEXPORT jboolean JNICALL Java_Published_describe(JNIEnv *env, jclass class) {
    static const char payload[] = "\n\x1a"
                                  "datadog.local_root_span_id";
    struct header {
        char magic[8];
        uint32_t version;
        uint32_t size;
        uint64_t published;
        const char *payload;
    } header = {"OTEL_CTX", 2, sizeof payload - 1, 1, payload};
    (void)env;
    (void)class;
    int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
    void *mapping = fd < 0 || write(fd, &header, sizeof header) != (ssize_t)sizeof header
                        ? MAP_FAILED
                        : mmap(NULL, sizeof header, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return mapping == MAP_FAILED ? JNI_FALSE : JNI_TRUE;
}
