// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what other programs can read of this process: the process context, in the way that its
// specification describes, and the context of each thread.

#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "record/thread_context.h"
#include "send/process_context.h"
#include "send/resource.h"

struct header {
    char signature[8];
    uint32_t version;
    uint32_t size;
    uint64_t published;
    uint64_t payload;
};

// Finds the mapping by its name; returns how many there are.
static int find(const struct header **found) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    int count = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (strstr(line, "OTEL_CTX") != NULL) {
            count++;
            *found = (const struct header *)(uintptr_t)strtoull(line, NULL, 16);
        }
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return count;
}

static struct weft_resource resource(void) {
    struct weft_resource r = {0};
    weft_resource_add(&r, "service.name", "orders");
    weft_resource_add(&r, "service.instance.id", "i-1");
    return r;
}

// A ProcessContext in protocol buffers: the resource, and two attributes about threads.
static const char expected[] =
    "\x0a\x38"
    "\x0a\x18\x0a\x0cservice.name\x12\x08\x0a\x06orders"
    "\x0a\x1c\x0a\x13service.instance.id\x12\x05\x0a\x03i-1"
    "\x12\x2e\x0a\x1athreadlocal.schema_version\x12\x10\x0a\x0etlsdesc_v1_dev"
    "\x12\x23\x0a\x1dthreadlocal.attribute_key_map\x12\x02\x2a\x00";

TEST(the_process_context_is_read_as_specified) {
    const struct header *h = NULL;
    CHECK_INT(find(&h), 0);
    CHECK(!weft_process_context_exists());
    struct weft_resource r = resource();
    CHECK(weft_process_context_publish(r.list, r.count));
    CHECK(weft_process_context_exists());
    CHECK_INT(find(&h), 1);
    if (h == NULL) {
        return;
    }
    CHECK(memcmp(h->signature, "OTEL_CTX", 8) == 0);
    CHECK_INT(h->version, 2);
    CHECK(h->published > 0);
    CHECK_INT(h->size, sizeof expected - 1);
    CHECK(memcmp((const void *)(uintptr_t)h->payload, expected, sizeof expected - 1) == 0);
    CHECK(weft_process_context_publish(r.list, r.count));
    CHECK_INT(find(&h), 1);
    weft_resource_free(&r);
}

// Runs while there is a context.
TEST(the_process_context_is_replaced) {
    const struct header *h = NULL;
    weft_process_context_withdraw();
    CHECK(!weft_process_context_exists());
    CHECK_INT(find(&h), 0);
    weft_process_context_withdraw();
    static const uint8_t session[16] = {0x1f, 0, 0xa2};
    static const char instance[] = "1f00a200000000000000000000000000";
    struct weft_resource r = {0};
    weft_resource_add(&r, "service.name", "stock");
    weft_resource_add_session(&r, session);
    CHECK(weft_process_context_publish(r.list, r.count));
    CHECK_INT(find(&h), 1);
    if (h != NULL) {
        CHECK(memmem((const void *)(uintptr_t)h->payload, h->size, "stock", 5) != NULL);
        CHECK(memmem((const void *)(uintptr_t)h->payload, h->size, "orders", 6) == NULL);
        CHECK(memmem((const void *)(uintptr_t)h->payload, h->size, instance, sizeof instance - 1) !=
              NULL);
    }
    weft_resource_free(&r);
}

TEST(a_child_process_has_none) {
    pid_t child = fork();
    if (child == 0) {
        const struct header *h = NULL;
        _exit(find(&h));
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

extern __thread const uint8_t *volatile otel_thread_ctx_v1;

static const uint8_t *published(void) {
    return otel_thread_ctx_v1;
}

static void *other_thread(void *arg) {
    (void)arg;
    CHECK(published() == NULL);
    weft_thread_context_set(1, 2, 3, false);
    const uint8_t *r = published();
    CHECK(r != NULL && r[24] == 1 && r[23] == 3);
    return NULL;
}

TEST(each_thread_publishes_its_span) {
    weft_thread_context_set(1, 2, 3, false);
    CHECK(published() == NULL); // not enabled
    weft_thread_context_follow_virtual();
    CHECK(weft_thread_context_leave_virtual());
    CHECK(weft_thread_context_leave_virtual());
    weft_thread_context_enable();
    CHECK(weft_thread_context_leave_virtual());
    weft_thread_context_set(0x0102030405060708, 0x090a0b0c0d0e0f10, 0x1112131415161718, false);
    const uint8_t *r = published();
    CHECK(r != NULL && (uintptr_t)r % 2 == 0);
    for (int i = 0; i < 24; i++) {
        CHECK_INT(r[i], i + 1);
    }
    static const uint8_t rest[] = {1, 1, 0, 0}; // valid, sampled, no attributes
    CHECK(memcmp(r + 24, rest, sizeof rest) == 0);
    pthread_t other;
    CHECK_INT(pthread_create(&other, NULL, other_thread, NULL), 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    CHECK_INT(r[24], 1);
    weft_thread_context_set(1, 2, 9, true); // it is not known when that changes
    CHECK_INT(r[23], 24);
    weft_thread_context_follow_virtual();
    CHECK(!weft_thread_context_leave_virtual());
    weft_thread_context_set(1, 2, 9, true);
    CHECK_INT(r[23], 9);
    weft_thread_context_set(0, 0, 0, false);
    CHECK(published() == r);
    CHECK_INT(r[24], 0);
}

int main(void) {
    RUN(the_process_context_is_read_as_specified);
    RUN(a_child_process_has_none);
    RUN(the_process_context_is_replaced);
    RUN(each_thread_publishes_its_span);
    return harness_end("context");
}
