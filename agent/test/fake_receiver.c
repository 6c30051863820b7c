// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints what an agent sent. fake_receiver NAME [cut=N] [die=N] [garbage=N] [refuse=N] [silent=N]
// [slow=MS] [forget=N] [leave=N] [ahead=N] [turns=N of=CLASS.KIND...] [events=1] listens on a path
// or a port and prints the results when the session has ended; with events=1 also each event as it
// arrives. Exits with 1 if the stream broke a rule.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static struct server server;

static void on_signal(int number) {
    (void)number;
    atomic_store(&server.stop, true);
}

int main(int argc, char **argv) {
    int cut = 0;
    int leave = 0;
    int events = 0;
    size_t of = 0;
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
            {"die=", &server.die},
            {"events=", &events},
            {"garbage=", &server.garbage},
            {"refuse=", &server.refuse},
            {"silent=", &server.silent},
            {"slow=", &server.slow_ms},
            {"turns=", &server.turns},
            {"forget=", &server.forget},
            {"leave=", &leave},
            {"ahead=", &server.ahead},
        };
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            if (strncmp(argv[i], keys[k].key, strlen(keys[k].key)) == 0) {
                *keys[k].value = atoi(argv[i] + strlen(keys[k].key));
            }
        }
        if (strncmp(argv[i], "of=", 3) == 0 && strchr(argv[i], '.') != NULL &&
            of < sizeof server.of / sizeof server.of[0]) {
            server.of[of++] = argv[i] + 3;
        }
    }
    atomic_store(&server.cut, cut);
    atomic_store(&server.leave, leave);
    server.witness.print = events != 0 ? stdout : NULL;
    setvbuf(stdout, NULL, events != 0 ? _IOLBF : _IOFBF, BUFSIZ); // a script may wait for an event
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    server_run(&server);
    server_report(&server);
    return server.witness.problem[0] == '\0' ? 0 : 1;
}
