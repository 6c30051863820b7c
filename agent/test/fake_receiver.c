// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What did an agent send? fake_receiver NAME [cut=N] [garbage=N] [refuse=N] [silent=N] [slow=MS]
// [forget=N] [events=1] listens on a path or a port, prints what came once the session has ended,
// with events=1 each event as it comes, and ends with 1 if the stream broke a rule. A SIGUSR1 sends
// the agent a control for mode=aggregated, a SIGUSR2 one for mode=details.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static struct server server;

static void on_signal(int number) {
    if (number == SIGUSR1 || number == SIGUSR2) {
        atomic_store(&server.mode, number == SIGUSR1 ? "aggregated" : "details");
    } else {
        atomic_store(&server.stop, true);
    }
}

int main(int argc, char **argv) {
    int cut = 0;
    int events = 0;
    witness_init(&server.witness);
    if (argc < 2 || !server_listen(&server, argv[1])) {
        perror("fake_receiver");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        const struct {
            const char *key;
            int *value;
        } keys[] = {
            {"cut=", &cut},
            {"events=", &events},
            {"garbage=", &server.garbage},
            {"refuse=", &server.refuse},
            {"silent=", &server.silent},
            {"slow=", &server.slow_ms},
            {"forget=", &server.forget},
        };
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            if (strncmp(argv[i], keys[k].key, strlen(keys[k].key)) == 0) {
                *keys[k].value = atoi(argv[i] + strlen(keys[k].key));
            }
        }
    }
    atomic_store(&server.cut, cut);
    server.witness.print = events != 0 ? stdout : NULL;
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    server_run(&server);
    server_report(&server);
    return server.witness.problem[0] == '\0' ? 0 : 1;
}
