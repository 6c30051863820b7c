// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites a class file, and broken ones. That a JVM verifies and runs the result, jvm/exact.sh
// tests with its own VirtualThread.

#include "classfile/rewrite.h"

#include "classfile/called.h"
#include "harness.h"
#include "rewritten_class.h"

static const struct weft_call both[] = {{"unpark", "()V", "unparked"},
                                        {"start", "(I)V", "started"}};
static const struct weft_calls calls = {"a/Probe", "(LT;)V", both, 2};

// How often bytes occur.
static int count_of(const struct weft_bytes *in, const void *bytes, size_t len) {
    int count = 0;
    for (size_t i = 0; i + len <= in->len; i++) {
        count += memcmp(in->data + i, bytes, len) == 0;
    }
    return count;
}

#define COUNT(out, ...)                                                                            \
    count_of(&(out), (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

TEST(calls_come_first) {
    struct weft_bytes out = {0};
    CHECK_INT(weft_rewrite(rewritten_class, sizeof rewritten_class, &calls, &out), 3);
    size_t texts = strlen("a/Probe") + strlen("(LT;)V") + strlen("unparked") + strlen("started");
    // Three bytes for each text and class, five for each reference; the prologues.
    CHECK_INT(out.len, sizeof rewritten_class + texts + 15 + 20 + 8);
    // unpark: the call, then aload_0, getfield. start: the call, then aload_0, dup.
    CHECK_INT(COUNT(out, 0x2a, 0xb8), 2);
    // The size of unpark's code, 100 before.
    CHECK_INT(COUNT(out, 0, 4, 0, 2, 0, 0, 0, 104, 0x2a, 0xb8), 1);
    weft_bytes_free(&out);
}

TEST(tables_move) {
    struct weft_bytes out = {0};
    weft_rewrite(rewritten_class, sizeof rewritten_class, &calls, &out);
    CHECK_INT(COUNT(out, 0, 1, 0, 35, 0, 87, 0, 95, 0, 0), 1);             // exceptions: 31, 83, 91
    CHECK_INT(COUNT(out, 0, 3, 0, 0, 0, 4, 0, 35, 0, 5, 0, 103, 0, 6), 1); // lines: 0, 31, 99
    CHECK_INT(COUNT(out, 0, 1, 0, 0, 0, 104, 0), 1); // variable: 0, length 100
    CHECK_INT(COUNT(out, 255, 0, 29), 1);            // first frame: 25
    CHECK_INT(COUNT(out, 255, 0, 1), 1);             // second: after the first
    CHECK_INT(COUNT(out, 8, 0, 12), 4);              // created at 8
    CHECK_INT(COUNT(out, 8, 0, 8), 0);
    weft_bytes_free(&out);
}

// The code of a method in a rewritten class file, whose constant pool is opened.
static const uint8_t *code_of(const struct weft_bytes *file, const uint8_t *begin, size_t len) {
    for (size_t i = 0; i + len <= file->len; i++) {
        if (memcmp(file->data + i, begin, len) == 0) {
            return file->data + i;
        }
    }
    return NULL;
}

TEST(calls_are_found) {
    static const struct weft_call other = {"unpark", "()V", "missing"};
    struct weft_bytes out = {0};
    struct weft_constants pool;
    weft_rewrite(rewritten_class, sizeof rewritten_class, &calls, &out);
    uint32_t count = (uint32_t)(out.data[8] << 8 | out.data[9]);
    CHECK(weft_constants_open(&pool, out.data + 10, out.len - 10, count));
    // unpark has 104 bytes: stack 4, locals 2.
    const uint8_t head[] = {0, 4, 0, 2, 0, 0, 0, 104};
    const uint8_t *code = code_of(&out, head, sizeof head);
    CHECK(code != NULL);
    if (code != NULL) {
        code += sizeof head;
        CHECK(weft_called(&pool, code, 104, &calls, &both[0]));
        CHECK(!weft_called(&pool, code, 104, &calls, &both[1]));
        CHECK(!weft_called(&pool, code, 104, &calls, &other));
        CHECK(!weft_called(&pool, code + 4, 100, &calls, &both[0])); // as it was
        CHECK(!weft_called(&pool, code, 2, &calls, &both[0]));
        // Another agent has put code before it: aload_0, pop.
        uint8_t later[] = {0x2a, 0x57, 0x2a, 0xb8, code[2], code[3], 0xb1};
        CHECK(weft_called(&pool, later, sizeof later, &calls, &both[0]));
        CHECK(!weft_called(&pool, later, 5, &calls, &both[0]));
    }
    weft_constants_close(&pool);
    weft_bytes_free(&out);
}

static uint32_t rewrite_one(const char *method, const char *descriptor) {
    const struct weft_call one = {method, descriptor, "called"};
    const struct weft_calls list = {"a/Probe", "(LT;)V", &one, 1};
    struct weft_bytes out = {0};
    uint32_t added = weft_rewrite(rewritten_class, sizeof rewritten_class, &list, &out);
    weft_bytes_free(&out);
    return added;
}

TEST(other_methods_stay) {
    CHECK_INT(rewrite_one("unpark", "()V"), 1);
    CHECK_INT(rewrite_one("unpark", "(Z)V"), 0);
    CHECK_INT(rewrite_one("park", "()V"), 0);
    CHECK_INT(rewrite_one("stop", "(I)V"), 0); // static
}

// The sanitizers find reads beyond the end.
TEST(broken_files_are_refused) {
    uint8_t *copy = malloc(sizeof rewritten_class);
    for (size_t len = 0; len < sizeof rewritten_class; len++) {
        uint8_t *cut = malloc(len + 1);
        struct weft_bytes out = {0};
        memcpy(cut, rewritten_class, len);
        CHECK_INT(weft_rewrite(cut, len, &calls, &out), 0);
        weft_bytes_free(&out);
        free(cut);
    }
    for (size_t at = 0; at < sizeof rewritten_class; at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct weft_bytes out = {0};
            memcpy(copy, rewritten_class, sizeof rewritten_class);
            copy[at] ^= (uint8_t)(1 << bit);
            weft_rewrite(copy, sizeof rewritten_class, &calls, &out);
            weft_bytes_free(&out);
        }
    }
    free(copy);
}

int main(int argc, char **argv) {
    (void)argc;
    RUN(calls_come_first);
    RUN(tables_move);
    RUN(calls_are_found);
    RUN(other_methods_stay);
    RUN(broken_files_are_refused);
    return harness_end(argv[0]);
}
