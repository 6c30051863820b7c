// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

// What a thread gets for what it did itself: faults, system calls that a filter traps, abort.
static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

bool weft_thread_start(void *(*run)(void *), void *argument, size_t stack) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        sigdelset(&blocked, own[i]);
    }
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, stack);
    pthread_sigmask(SIG_SETMASK, &blocked, &before); // the thread inherits the mask
    int error = pthread_create(&thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        errno = error;
    }
    return error == 0;
}
