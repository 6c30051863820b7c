// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "server.h"

#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

bool server_listen(struct server *s, const char *name) {
    int port = atoi(name);
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in inet = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    s->listener = socket(port > 0 ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (port > 0) {
        int on = 1;
        setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        return bind(s->listener, (struct sockaddr *)&inet, sizeof inet) == 0 &&
               listen(s->listener, 8) == 0;
    }
    unlink(name);
    snprintf(local.sun_path, sizeof local.sun_path, "%s", name);
    return bind(s->listener, (struct sockaddr *)&local, sizeof local) == 0 &&
           listen(s->listener, 8) == 0;
}

static bool say(int fd, uint16_t kind, const void *payload, uint32_t len) {
    uint8_t frame[256];
    memcpy(frame, &len, 4);
    memcpy(frame + 4, &kind, 2);
    memset(frame + 6, 0, 2);
    memcpy(frame + 8, payload, len);
    return send(fd, frame, 8 + len, MSG_NOSIGNAL) == (ssize_t)8 + (ssize_t)len;
}

static void be_rude(struct server *s, int fd) {
    uint8_t heard[4096];
    if (s->silent > 0) {
        s->silent--;
        recv(fd, heard, sizeof heard, 0); // gives no answer
        return;
    }
    if (s->refuse > 0) {
        s->refuse--;
        say(fd, 130,
            "\x02\x00\x04\x00"
            "full",
            8);
        return;
    }
    uint8_t nonsense[64];
    for (size_t i = 0; i < sizeof nonsense; i++) {
        nonsense[i] = (uint8_t)(s->garbage * 37 + (int)i * 11);
    }
    s->garbage--;
    send(fd, nonsense, sizeof nonsense, MSG_NOSIGNAL);
    while (recv(fd, heard, sizeof heard, 0) > 0) { // until the agent closes
    }
}

// A welcome that knows more of the session than its agent, until the agent closes.
static void claim(struct server *s, int fd) {
    const uint64_t many = 1000000000;
    uint8_t heard[4096];
    s->ahead--;
    s->witness.taken = true;
    if (recv(fd, heard, sizeof heard, 0) > 0 && say(fd, 128, &many, 8)) {
        while (recv(fd, heard, sizeof heard, 0) > 0) {
        }
    }
}

// Reads what is on its way, so that closing does not destroy the acknowledgements.
static void leave(struct server *s, int fd) {
    uint8_t heard[4096];
    atomic_store(&s->leave, 0);
    shutdown(fd, SHUT_WR);
    while (recv(fd, heard, sizeof heard, 0) > 0) {
    }
}

// Control frames, valid and invalid; then, if configured, a malformed one.
static void control(struct server *s, int fd) {
    for (int i = 0; i < s->nag; i++) {
        if (i % 2 == 0) {
            say(fd, 131, "\1\0\0\0\1\0\5\0depth\1\0007", 16);
        } else {
            say(fd, 131, "\2\0\0\0\2\0\5\0depth\1\0009\4\0dept\0\0", 24);
        }
    }
    if (s->mangle > 0) {
        // Counts that are too large, lengths that lead outside, less than a header, no end.
        static const struct {
            const char *bytes;
            uint32_t len;
        } broken[] = {
            {"\1\0\0\0\377\377", 6},
            {"\1\0\0\0\1\0\377\377", 8},
            {"\1\0\0\0\1\0\5\0depth\1", 14},
            {"\1\0", 2},
            {"", 0},
        };
        s->mangle--;
        size_t at = (size_t)s->mangle % (sizeof broken / sizeof broken[0]);
        say(fd, 131, broken[at].bytes, broken[at].len);
    }
}

// Counts the waits sent as events or in sums. Waits in snapshots do not show in which mode they
// end.
static uint64_t waits_of(const struct witness *w, const char *name, bool in_sums) {
    const char *kind_name = strrchr(name, '.') + 1;
    size_t len = (size_t)(kind_name - 1 - name);
    for (size_t id = 1; id < WITNESS_CLASSES; id++) {
        const struct witness_class *at = &w->by_class[id];
        if (strncmp(at->name, name, len) == 0 && at->name[len] == '\0') {
            for (unsigned k = 1; k <= WITNESS_LAST_KIND; k++) {
                if (strcmp(witness_kind(k), kind_name) == 0) {
                    return in_sums ? at->sums[k] : at->events[k] - at->found[k];
                }
            }
        }
    }
    return 0;
}

static void ask_for_mode(int fd, const char *mode) {
    uint8_t payload[64] = "\3\0\0\0\1\0\4\0mode";
    int len = snprintf((char *)payload + 14, sizeof payload - 14, "%s", mode);
    payload[12] = (uint8_t)len;
    say(fd, 131, payload, 14 + (uint32_t)len);
}

// Sessions begin in details mode and return to it after an even number of turns. Prints when waits
// arrived in the last mode, too.
static void take_turns(struct server *s, int fd) {
    const struct witness *w = &s->witness;
    bool in_sums = s->turned % 2 == 1;
    size_t count = 0;
    if (s->turns < 0 || w->answers < s->turned) {
        return;
    }
    while (count < sizeof s->of / sizeof s->of[0] && s->of[count] != NULL) {
        if (waits_of(w, s->of[count], in_sums) <= s->marks[count]) {
            return;
        }
        count++;
    }
    if (s->turns-- == 0) {
        puts("turned");
        fflush(stdout);
        return;
    }
    ask_for_mode(fd, in_sums ? "details" : "aggregated");
    s->turned++;
    for (size_t i = 0; i < count; i++) {
        s->marks[i] = waits_of(w, s->of[i], !in_sums);
    }
}

static void serve(struct server *s, int fd) {
    struct witness *w = &s->witness;
    uint8_t data[65536];
    bool welcomed = false;
    uint64_t acked = w->newest;
    uint64_t first = w->newest;
    witness_connect(w);
    while (!atomic_load(&s->stop)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (welcomed && s->of[0] != NULL) {
            take_turns(s, fd);
        }
        if (poll(&p, 1, 50) <= 0) {
            continue;
        }
        if (s->slow_ms > 0) {
            usleep((useconds_t)s->slow_ms * 1000);
        }
        ssize_t n = recv(fd, data, sizeof data, 0);
        if (n <= 0 || !witness_feed(w, data, (size_t)n)) {
            return;
        }
        atomic_store(&s->seen, w->total + w->lost);
        if (w->hello && !welcomed) {
            welcomed = true;
            acked = first = w->newest;
            say(fd, 128, &w->newest, 8);
            control(s, fd);
        }
        if (s->die > 0 && w->newest >= (uint64_t)s->die) {
            raise(SIGKILL);
        }
        bool cut =
            s->cut > 0 && w->connections < 6 && w->newest - first >= (uint64_t)s->cut && !w->ended;
        if (cut) {
            atomic_fetch_add(&s->cuts, 1);
            return;
        }
        if (w->newest > acked && (s->forget == 0 || w->newest - first < (uint64_t)s->forget)) {
            acked = w->newest;
            say(fd, 129, &acked, 8);
            say(fd, 999, "newer", 5); // has to be skipped
        }
        if (w->ended && acked == w->newest) {
            return; // closing confirms the end
        }
        if (s->leave > 0 && w->newest >= (uint64_t)s->leave) {
            leave(s, fd);
            return;
        }
    }
}

void server_run(struct server *s) {
    while (!atomic_load(&s->stop) && !s->witness.ended && s->witness.problem[0] == '\0') {
        struct pollfd p = {.fd = s->listener, .events = POLLIN};
        if (poll(&p, 1, 50) <= 0) {
            continue;
        }
        int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        if (s->garbage > 0 || s->refuse > 0 || s->silent > 0) {
            be_rude(s, fd);
        } else if (s->ahead > 0 && s->leave == 0) {
            claim(s, fd);
        } else {
            serve(s, fd);
        }
        close(fd);
    }
    atomic_store(&s->over, true);
}

void server_report(const struct server *s) {
    const struct witness *w = &s->witness;
    for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
        if (w->events[i] > 0) {
            printf("%s %llu\n", witness_kind(i), (unsigned long long)w->events[i]);
        }
    }
    for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
        if (w->worker_events[i] > 0) {
            printf("worker.%s %llu\n", witness_kind(i), (unsigned long long)w->worker_events[i]);
        }
    }
    for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
        if (w->carrier_events[i] > 0) {
            printf("carrier.%s %llu\n", witness_kind(i), (unsigned long long)w->carrier_events[i]);
        }
    }
    for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
        if (w->main_events[i] > 0) {
            printf("main.%s %llu\n", witness_kind(i), (unsigned long long)w->main_events[i]);
        }
    }
    printf("carriers %llu\n", (unsigned long long)w->carriers);
    for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
        if (w->by_class[0].worker_events[i] > 0) {
            printf("worker.classless.%s %llu\n", witness_kind(i),
                   (unsigned long long)w->by_class[0].worker_events[i]);
        }
    }
    for (size_t id = 1; id < WITNESS_CLASSES; id++) {
        const struct witness_class *at = &w->by_class[id];
        for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
            if (at->events[i] > 0) {
                printf("%s.%s %llu\n", at->name, witness_kind(i),
                       (unsigned long long)at->events[i]);
            }
        }
        for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
            if (at->worker_events[i] > 0) {
                printf("worker.%s.%s %llu\n", at->name, witness_kind(i),
                       (unsigned long long)at->worker_events[i]);
            }
            if (at->found[i] > 0) {
                printf("%s.found.%s %llu\n", at->name, witness_kind(i),
                       (unsigned long long)at->found[i]);
            }
            if (at->sums[i] > 0) {
                printf("%s.sum.%s %llu\n", at->name, witness_kind(i),
                       (unsigned long long)at->sums[i]);
            }
        }
        if (at->timed > 0) {
            printf("%s.timed %llu\n", at->name, (unsigned long long)at->timed);
        }
        if (at->worker_owned > 0) {
            printf("worker.%s.owned %llu\n", at->name, (unsigned long long)at->worker_owned);
        }
        if (at->owned + at->timed_out + at->interrupted > 0) {
            printf("%s.owned %llu\n%s.timedOut %llu\n%s.interrupted %llu\n", at->name,
                   (unsigned long long)at->owned, at->name, (unsigned long long)at->timed_out,
                   at->name, (unsigned long long)at->interrupted);
        }
    }
    for (unsigned i = 1; i <= WITNESS_LAST_KIND; i++) {
        if (w->sums[i] > 0) {
            printf("sum.%s %llu\nns.%s %llu\n", witness_kind(i), (unsigned long long)w->sums[i],
                   witness_kind(i), (unsigned long long)w->sum_ns[i]);
        }
    }
    printf("aggregates %llu\noverflow %llu\n", (unsigned long long)w->aggregates,
           (unsigned long long)w->overflow);
    printf("events %llu\nlost %llu\nbatches %llu\nconnections %d\nsessions %d\n",
           (unsigned long long)w->total, (unsigned long long)w->lost,
           (unsigned long long)w->batches, w->connections, w->sessions);
    printf("ownInstance %d\n", w->own_instance);
    printf("withInterrupt %llu\ntimedOut %llu\nowned %llu\nstacks %llu\n",
           (unsigned long long)w->interrupted, (unsigned long long)w->timed_out,
           (unsigned long long)w->owned, (unsigned long long)w->stacks);
    printf("worker.lost %llu\n", (unsigned long long)w->worker_lost);
    printf("found %llu\nanswers %llu\n", (unsigned long long)w->found,
           (unsigned long long)w->answers);
    printf("definitions %llu\nthreads %llu\nservice %s\nend %d\nproblem %s\n",
           (unsigned long long)w->definition_frames, (unsigned long long)w->thread_frames,
           w->service, w->ended, w->problem[0] == '\0' ? "none" : w->problem);
}
