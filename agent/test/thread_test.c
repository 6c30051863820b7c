// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which signals the agent's threads block.

#include "wire/thread.h"

#include <pthread.h>
#include <signal.h>

#include "harness.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool done;
static sigset_t mask;

static void *read_mask(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_sigmask(SIG_BLOCK, NULL, argument);
    done = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static bool is_own(int number) {
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGTRAP || number == SIGSYS || number == SIGABRT;
}

TEST(only_signals_of_the_thread_itself_reach_it) {
    sigset_t before;
    sigset_t after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    pthread_mutex_lock(&mutex);
    CHECK(weft_thread_start(read_mask, &mask, (size_t)256 * 1024));
    while (!done) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int number = 1; number <= SIGRTMAX; number++) {
        bool reserved =
            number == SIGKILL || number == SIGSTOP || (number > SIGSYS && number < SIGRTMIN);
        if (!reserved && sigismember(&mask, number) != !is_own(number)) {
            CHECK_INT(number, 0); // names it
        }
        CHECK_INT(sigismember(&after, number), sigismember(&before, number));
    }
}

int main(void) {
    RUN(only_signals_of_the_thread_itself_reach_it);
    return harness_end("thread");
}
