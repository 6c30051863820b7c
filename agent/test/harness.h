// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// A minimal test framework. Each test program is one file with TEST(name) functions, which main
// passes to RUN(...). A failed check prints file, line and values, and the program exits with 1.

#ifndef WEFT_TEST_HARNESS_H
#define WEFT_TEST_HARNESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int harness_failures;
static const char *harness_test = "";

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            harness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, harness_test,           \
                    #condition);                                                                   \
        }                                                                                          \
    } while (0)

#define CHECK_INT(actual, expected)                                                                \
    do {                                                                                           \
        long long harness_a = (long long)(actual);                                                 \
        long long harness_e = (long long)(expected);                                               \
        if (harness_a != harness_e) {                                                              \
            harness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld\n", __FILE__, __LINE__, harness_test, \
                    #actual, harness_a, harness_e);                                                \
        }                                                                                          \
    } while (0)

#define CHECK_STRING(actual, expected)                                                             \
    do {                                                                                           \
        const char *harness_a = (actual);                                                          \
        const char *harness_e = (expected);                                                        \
        if (harness_a == NULL || strcmp(harness_a, harness_e) != 0) {                              \
            harness_failures++;                                                                    \
            fprintf(stderr, "%s:%d: %s: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__,           \
                    harness_test, #actual, harness_a == NULL ? "(null)" : harness_a, harness_e);   \
        }                                                                                          \
    } while (0)

#define TEST(name) static void name(void)

#define RUN(test)                                                                                  \
    do {                                                                                           \
        harness_test = #test;                                                                      \
        test();                                                                                    \
    } while (0)

static inline int harness_end(const char *program) {
    if (harness_failures == 0) {
        printf("ok   %s\n", program);
        return 0;
    }
    printf("FAIL %s: %d\n", program, harness_failures);
    return 1;
}

#endif
