// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a thread reads what another library publishes for it, whatever the dynamic linker does
// at that time.

#include "record/published.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum {
    PATH_SIZE = 4096,
    OLDER = 0,
    YOUNGER = 1,
    THREADS = 2,
    PATIENCE_S = 60,
    PERIOD_NS = 1000000000
};

typedef void publisher(void *env, void *class, int64_t trace, int64_t span, uint8_t valid,
                       int8_t flags);

static publisher *publish;
static atomic_bool go;

// The build puts libraries next to this program.
static void *load(const char *name) {
    char path[PATH_SIZE];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    path[len < 0 ? 0 : len] = '\0';
    char *slash = strrchr(path, '/');
    CHECK(slash != NULL);
    if (slash == NULL) {
        return NULL;
    }
    (void)snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%s", name);
    return dlopen(path, RTLD_NOW);
}

static void *read_own(void *arg) {
    int64_t id = *(const int *)arg + 1;
    void *const *slot = NULL;
    struct weft_span span;
    while (!atomic_load(&go)) {
        usleep(1000);
    }
    CHECK(weft_published_read(&slot, &span));
    CHECK_INT(span.id, 0);
    publish(NULL, NULL, 7, id, 1, 1);
    CHECK(weft_published_read(&slot, &span));
    CHECK_INT(span.id, id);
    CHECK_INT(span.trace_low, 7);
    return NULL;
}

static void *load_held(void *nothing) {
    (void)nothing;
    CHECK(load("libheld_loader.so") != NULL);
    return NULL;
}

// As the sender does.
static void *look(void *arg) {
    weft_published_look(*(const int64_t *)arg, false);
    return NULL;
}

static void look_at(int64_t now) {
    pthread_t looker;
    pthread_create(&looker, NULL, look, &now);
    pthread_join(looker, NULL);
}

static void make_pipe(int ends[2], int passed, const char *name) {
    char number[16];
    CHECK_INT(pipe(ends), 0);
    (void)snprintf(number, sizeof number, "%d", ends[passed]);
    setenv(name, number, 1);
}

// Threads that are older and younger than the library read their spans while another thread is in a
// constructor.
static void read_while_loading(const char *name) {
    static int ids[THREADS] = {OLDER, YOUNGER};
    pthread_t readers[THREADS];
    pthread_t loader;
    int entered[2];
    int released[2];
    char byte = 0;
    make_pipe(entered, 1, "HELD_ENTERED");
    make_pipe(released, 0, "HELD_RELEASED");
    pthread_create(&readers[OLDER], NULL, read_own, &ids[OLDER]);
    look_at(0);
    CHECK(weft_published_library() == NULL);
    void *library = load(name);
    CHECK(library != NULL);
    *(void **)&publish = library == NULL ? NULL : dlsym(library, "Java_Published_publish");
    CHECK(publish != NULL);
    look_at(PERIOD_NS);
    CHECK_STRING(weft_published_library(), name);
    pthread_create(&readers[YOUNGER], NULL, read_own, &ids[YOUNGER]);
    pthread_create(&loader, NULL, load_held, NULL);
    CHECK_INT(read(entered[0], &byte, 1), 1);
    atomic_store(&go, true);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(readers[i], NULL); // before the lock is released
    }
    CHECK_INT(write(released[1], &byte, 1), 1);
    pthread_join(loader, NULL);
}

// A process keeps the library that it found.
static void in_child(const char *name) {
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE_S);
        read_while_loading(name);
        _exit(harness_failures == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

TEST(read_from_a_block_of_its_own) {
    in_child("libthread_context.so");
}

TEST(read_from_the_block_of_the_thread) {
    in_child("libthread_context_static.so");
}

int main(void) {
    RUN(read_from_a_block_of_its_own);
    RUN(read_from_the_block_of_the_thread);
    return harness_end("published");
}
