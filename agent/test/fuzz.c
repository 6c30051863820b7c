// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Feeds random bytes to whatever in the agent reads bytes from others: frames from a receiver,
// options, bytecode and constant pools, patterns. Inputs that reach new code are kept and changed
// further. The sanitizers find what goes wrong; the input is then in the file fuzz-input. Usage:
// fuzz TARGET EXECUTIONS [INPUT], with an input to run just that one.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "classfile/receiver_name.h"
#include "classfile/rewrite.h"
#include "options/filter.h"
#include "options/options.h"
#include "wire/wire.h"

enum { MAX_INPUT = 512, MAX_CORPUS = 4096, EDGES = 1 << 16 };

static uint8_t seen[EDGES];
static bool fresh; // the last execution reached new code
static uintptr_t last_place;

void __sanitizer_cov_trace_pc(void);

// Called by the code under test at the begin of each basic block.
__attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc(void) {
    uintptr_t place = (uintptr_t)__builtin_return_address(0);
    uintptr_t edge = (place ^ last_place << 3 ^ place >> 9) % EDGES;
    last_place = place;
    if (seen[edge] == 0) {
        seen[edge] = 1;
        fresh = true;
    }
}

static uint64_t state = 88172645463325252u;

static uint64_t any(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

struct input {
    uint8_t data[MAX_INPUT];
    size_t len;
};

static struct input current;

static const char crash_file[] = "fuzz-input";

static void save(void) {
    FILE *f = fopen(crash_file, "wb");
    if (f != NULL) {
        fwrite(current.data, 1, current.len, f);
        fclose(f);
        fprintf(stderr, "the input is in %s\n", crash_file);
    }
}

static void expect(bool condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "not so: %s\n", what);
        save();
        abort();
    }
}

// Frames from a receiver.
static void replies(const uint8_t *data, size_t len) {
    size_t at = 0;
    struct weft_reply reply;
    ptrdiff_t n;
    while ((n = weft_wire_read_reply(data + at, len - at, &reply)) > 0) {
        expect((size_t)n <= len - at, "a frame ends within the data");
        at += (size_t)n;
        size_t option = 0;
        for (int i = 0; reply.kind == WEFT_FRAME_CONTROL && i < reply.option_count; i++) {
            char key[32], value[64];
            weft_wire_read_option(&reply, &option, key, sizeof key, value, sizeof value);
            expect(strlen(key) < sizeof key && strlen(value) < sizeof value, "texts end");
        }
    }
}

// Copies the input as a text, which ends at the first zero.
static const char *text_of(const uint8_t *data, size_t len, char text[MAX_INPUT + 1]) {
    memcpy(text, data, len);
    text[len] = '\0';
    return text;
}

// Options from the command line, an attach and a control.
static void options(const uint8_t *data, size_t len) {
    static struct weft_options values; // large
    static bool begun;
    char text[MAX_INPUT + 1];
    if (!begun || len % 64 == 0) {
        weft_options_default(&values);
        begun = true;
    }
    text_of(data, len, text);
    for (enum weft_when when = WEFT_AT_START; when <= WEFT_BY_CONTROL; when++) {
        char problem[WEFT_PROBLEM_MAX] = "";
        if (!weft_options_change(text, when, &values, problem)) {
            expect(problem[0] != '\0', "a problem is described");
            expect(strchr(problem, '\n') == NULL || strchr(text, '\n') != NULL, "in one line");
        }
    }
}

// A method's bytecode, and the constant pool that it refers to.
static void bytecode(const uint8_t *data, size_t len) {
    struct weft_constants constants;
    if (len < 4) {
        return;
    }
    size_t pool = data[0] < len - 4 ? data[0] : len - 4;
    bool opened = weft_constants_open(&constants, data + 4, pool, data[1]);
    struct weft_code code = {
        .bytes = data + 4 + pool,
        .size = (uint32_t)(len - 4 - pool),
        .is_static = (data[2] & 1) != 0,
        .parameters = data[3],
        .constants = &constants,
    };
    for (uint32_t at = 0; at <= code.size && at < 24; at++) {
        for (enum weft_use use = WEFT_USE_MONITOR; use <= WEFT_USE_CALL; use++) {
            char name[WEFT_RECEIVER_MAX];
            if (weft_receiver_may_use(&code, at, use) && opened &&
                weft_receiver_name(&code, at, use, name)) {
                expect(strlen(name) < sizeof name, "a name ends");
            }
        }
    }
    weft_constants_close(&constants);
}

// A class file with a method to rewrite.
static void classes(const uint8_t *data, size_t len) {
    static const struct weft_call call = {"m", "()V", "called"};
    static const struct weft_calls list = {"P", "(LT;)V", &call, 1};
    struct weft_bytes out = {0};
    if (weft_rewrite(data, len, &list, &out) != 0) {
        expect(out.len > len, "a call was added");
    }
    weft_bytes_free(&out);
}

// Patterns and a name, separated by a zero.
static void patterns(const uint8_t *data, size_t len) {
    char text[MAX_INPUT + 1];
    text_of(data, len, text);
    size_t first = strlen(text);
    weft_filter_match(text, first < len ? text + first + 1 : "");
}

// A word that an input is likely to need.
struct token {
    const char *at;
    size_t len;
};

#define TOKEN(text)                                                                                \
    { text, sizeof(text) - 1 }

enum { MAX_TOKENS = 16 };

static const struct target {
    const char *name;
    void (*run)(const uint8_t *data, size_t len);
    struct token tokens[MAX_TOKENS];
    struct token first; // an input that is valid
} targets[] = {
    {.name = "replies",
     .run = replies,
     .first = TOKEN("\x08\0\0\0\x80\0\0\0\0\0\0\0\0\0\0\0"),
     .tokens = {TOKEN("\x08\0\0\0\x80\0\0\0"), TOKEN("\x08\0\0\0\x81\0\0\0"),
                TOKEN("\x10\0\0\0\x82\0\0\0"), TOKEN("\x20\0\0\0\x83\0\0\0"),
                TOKEN("\x01\0\0\0\x01\0\x05\0depth\x01\0008")}},
    {.name = "options",
     .run = options,
     .first = TOKEN("depth=8,monitor=off"),
     .tokens = {TOKEN("depth="), TOKEN("endpoint=unix://"), TOKEN("tcp://"), TOKEN("monitor=off,"),
                TOKEN("min-duration="), TOKEN("include-threads="), TOKEN("pool="), TOKEN("retain="),
                TOKEN("ms"), TOKEN(","), TOKEN("interval="), TOKEN("file="), TOKEN("series=")}},
    // The constants are Utf8, Class, Fieldref, InterfaceMethodref, NameAndType and Long.
    {.name = "bytecode",
     .run = bytecode,
     // synchronized (this.A), a field of the class A
     .first = TOKEN("\x15\x06\0\x01"
                    "\x01\0\x01"
                    "A"
                    "\x07\0\x01\x09\0\x02\0\x04\x0c\0\x01\0\x05\x01\0\x01"
                    "I"
                    "\x2a\xb4\0\x03\xc2\xb1"),
     .tokens = {TOKEN("\xc2"), TOKEN("\x2a\xb4\0\x03\xc2"), TOKEN("\x12\x01"), TOKEN("\xb2\0\x03"),
                TOKEN("\xaa"), TOKEN("\xc4"), TOKEN("\x59\x4c\xc2"), TOKEN("\x01\0\x03(J)"),
                TOKEN("\x01\0\x01I"), TOKEN("\x07\0\x01"), TOKEN("\x09\0\x02\0\x04"),
                TOKEN("\x0b\0\x02\0\x04"), TOKEN("\x0c\0\x01\0\x01"), TOKEN("\x05"),
                TOKEN("\xb9\0\x03\x01\0"), TOKEN("\xa7\0\x03")}},
    // class T { void m() {} } with a StackMapTable, a line and a variable.
    {.name = "classes",
     .run = classes,
     .first =
         TOKEN("\xca\xfe\xba\xbe\0\0\0\x34\0\x09\x01\0\x01T\x07\0\x01\x01\0\x01m\x01\0\x03()V"
               "\x01\0\x04"
               "Code\x01\0\x0dStackMapTable\x01\0\x0fLineNumberTable\x01\0\x12LocalVariableTable"
               "\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0\x03\0\x04\0\x01\0\x05\0\0\0\x34\0\0\0\x01\0\0\0"
               "\x01\xb1"
               "\0\0\0\x03\0\x06\0\0\0\x03\0\x01\0\0\x07\0\0\0\x06\0\x01\0\0\0\x01"
               "\0\x08\0\0\0\x0c\0\x01\0\0\0\x01\0\x03\0\x04\0\0\0\0"),
     .tokens = {TOKEN("\0\x06\0\0\0\x03\0\x01\0"), TOKEN("\xff\0\x01\0\x01\x08\0\0\0\0"),
                TOKEN("\xfb\0\x01"), TOKEN("\xfe\0\x01\x07\0\x02"), TOKEN("\x40\x08\0\0"),
                TOKEN("\xf7\0\0\x01")}},
    {.name = "patterns",
     .run = patterns,
     .first = TOKEN("a*|b?\0ab"),
     .tokens = {TOKEN("*"), TOKEN("?"), TOKEN("|"), TOKEN("worker-*"), TOKEN("**")}},
};

static struct input corpus[MAX_CORPUS];
static size_t corpus_count;

static void insert(struct input *in, size_t at, const void *bytes, size_t len) {
    if (len > 0 && in->len + len <= MAX_INPUT) {
        memmove(in->data + at + len, in->data + at, in->len - at);
        memcpy(in->data + at, bytes, len);
        in->len += len;
    }
}

// Changes an input in one way.
static void mutate(const struct target *t, struct input *in) {
    static const uint32_t numbers[] = {0,   1,   2,     7,     8,        127, 128,
                                       255, 256, 65535, 65536, 1u << 31, ~0u};
    size_t at = any(in->len + 1);
    switch (any(7)) {
    case 0:
        if (at < in->len) {
            in->data[at] ^= (uint8_t)(1u << any(8));
        }
        break;
    case 1:
        if (at < in->len) {
            in->data[at] = (uint8_t)any(256);
        }
        break;
    case 2: {
        uint32_t number = numbers[any(sizeof numbers / sizeof *numbers)];
        size_t len = (size_t)1 << any(3);
        if (at + len <= in->len) {
            memcpy(in->data + at, &number, len);
        } else {
            insert(in, at, &number, len);
        }
        break;
    }
    case 3:
        if (at < in->len) {
            size_t len = 1 + any(in->len - at);
            memmove(in->data + at, in->data + at + len, in->len - at - len);
            in->len -= len;
        }
        break;
    case 4: {
        const struct token *token = &t->tokens[any(MAX_TOKENS)];
        insert(in, at, token->at, token->len);
        break;
    }
    case 5: {
        uint8_t byte = (uint8_t)any(256);
        insert(in, at, &byte, 1);
        break;
    }
    default: {
        const struct input *other = &corpus[any(corpus_count)];
        size_t from = any(other->len + 1);
        insert(in, at, other->data + from, any(other->len - from + 1));
    }
    }
}

// Runs an input that ends where its memory does, so that the sanitizer sees each byte beyond it.
static void execute(const struct target *t) {
    static uint8_t *memory;
    if (memory == NULL) {
        memory = malloc(MAX_INPUT);
        expect(memory != NULL, "there is memory");
    }
    uint8_t *data = memory + MAX_INPUT - current.len;
    memcpy(data, current.data, current.len);
    fresh = false;
    last_place = 0;
    t->run(data, current.len);
}

void __sanitizer_set_death_callback(void (*callback)(void));

static void fuzz(const struct target *t, uint64_t executions) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    corpus_count = 1;
    insert(&corpus[0], 0, t->first.at, t->first.len);
    for (uint64_t i = 0; i < executions; i++) {
        current = corpus[any(corpus_count)];
        for (uint64_t n = 1 + any(8); n > 0; n--) {
            mutate(t, &current);
        }
        execute(t);
        if (fresh && corpus_count < MAX_CORPUS) {
            corpus[corpus_count++] = current;
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("fuzz agent/%s: %llu executions, %zu kept inputs, %.0f executions/s\n", t->name,
           (unsigned long long)executions, corpus_count, (double)executions / seconds);
}

int main(int count, char **arguments) {
    const struct target *t = NULL;
    for (size_t i = 0; count >= 3 && i < sizeof targets / sizeof *targets; i++) {
        t = strcmp(arguments[1], targets[i].name) == 0 ? &targets[i] : t;
    }
    if (t == NULL) {
        fprintf(stderr, "usage: fuzz TARGET EXECUTIONS [INPUT]\ntargets:");
        for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
            fprintf(stderr, " %s", targets[i].name);
        }
        fprintf(stderr, "\n");
        return 2;
    }
    __sanitizer_set_death_callback(save);
    if (count > 3) {
        FILE *f = fopen(arguments[3], "rb");
        if (f == NULL) {
            perror(arguments[3]);
            return 2;
        }
        current.len = fread(current.data, 1, MAX_INPUT, f);
        fclose(f);
        execute(t);
        return 0;
    }
    // Each run takes other inputs, and says which.
    uint64_t seed = (uint64_t)time(NULL) << 16 ^ (uint64_t)getpid();
    state ^= seed << 1 | 1;
    fuzz(t, strtoull(arguments[2], NULL, 10));
    return 0;
}
