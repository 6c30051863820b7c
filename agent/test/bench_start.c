// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures what the agent adds to the start of a JVM, and what an attach takes. Arguments: the
// number of runs, the agent, the command weft, the folder of the compiled programs, then the homes
// of the JDKs. The variants take turns; all figures are medians in milliseconds.

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 200, MAX_ARGUMENTS = 12, TEXT = 4096, SETTLE_US = 100000 };

static const char *agent;
static const char *weft;
static const char *classes;
static int runs;

struct sample {
    double wall;
    double cpu; // user and system
};

struct variant {
    const char *name;
    const char *options; // of the agent; NULL: none
    const char *what;    // what the program does
    struct sample samples[MAX_RUNS];
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

// Starts a command without output, or with its output and input in these descriptors.
static pid_t start(char *const command[], int input, int output) {
    pid_t pid = fork();
    if (pid < 0) {
        fail("fork");
    }
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(input < 0 ? null : input, 0);
        dup2(output < 0 ? null : output, 1);
        dup2(null, 2);
        execv(command[0], command);
        _exit(127);
    }
    return pid;
}

static struct sample finish(pid_t pid, double began) {
    struct rusage used;
    int status;
    if (wait4(pid, &status, 0, &used) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "a command failed\n");
        exit(1);
    }
    return (struct sample){
        .wall = now() - began,
        .cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3,
    };
}

static pid_t start_java(const char *home, const struct variant *v, int input, int output) {
    char java[TEXT];
    char library[TEXT];
    char *command[MAX_ARGUMENTS] = {java};
    int n = 1;
    snprintf(java, sizeof java, "%s/bin/java", home);
    if (v->options != NULL) {
        snprintf(library, sizeof library, "-agentpath:%s=endpoint=unix:///nonexistent%s", agent,
                 v->options);
        command[n++] = library;
    }
    command[n++] = "-cp";
    command[n++] = (char *)(uintptr_t)classes;
    command[n++] = "Started";
    command[n] = (char *)(uintptr_t)v->what;
    return start(command, input, output);
}

static int by_value(const void *left, const void *right) {
    const double *a = left;
    const double *b = right;
    return *a < *b ? -1 : *a > *b;
}

static double median(const struct variant *v, bool cpu) {
    double values[MAX_RUNS];
    for (int i = 0; i < runs; i++) {
        values[i] = cpu ? v->samples[i].cpu : v->samples[i].wall;
    }
    qsort(values, (size_t)runs, sizeof values[0], by_value);
    return (values[(runs - 1) / 2] + values[runs / 2]) / 2;
}

static void print(const struct variant *v, const struct variant *base) {
    double wall = median(v, false);
    double cpu = median(v, true);
    printf("  %-40s wall %6.1f  x %.3f   CPU %6.1f  x %.3f\n", v->name, wall,
           wall / median(base, false), cpu, cpu / median(base, true));
}

// The first variant is the one without the agent.
static void compare(const char *home, struct variant *variants, int count) {
    for (int run = 0; run < runs; run++) {
        for (int i = 0; i < count; i++) {
            struct variant *v = &variants[(run + i) % count];
            double began = now();
            v->samples[run] = finish(start_java(home, v, -1, -1), began);
        }
    }
    for (int i = 0; i < count; i++) {
        print(&variants[i], &variants[0]);
    }
}

// The processor time of the threads of a process so far.
static double cpu_of(pid_t pid) {
    char path[TEXT];
    double total = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL) {
        fail(path);
    }
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
        long long ns = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file != NULL) {
            total += fscanf(file, "%lld", &ns) == 1 ? (double)ns / 1e6 : 0;
            fclose(file);
        }
    }
    closedir(tasks);
    return total;
}

// Attaches to a JVM that waits for input. Wall: of the command; CPU: of the JVM, until a while
// later.
static struct sample attach(const char *home) {
    static const struct variant waiting = {.what = "wait"};
    int input[2];
    int output[2];
    char id[32];
    char library[TEXT];
    char line[TEXT];
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
        fail("pipe");
    }
    pid_t jvm = start_java(home, &waiting, input[0], output[1]);
    close(input[0]);
    close(output[1]);
    if (read(output[0], line, sizeof line) <= 0) { // it is ready
        fail("no output");
    }
    usleep(SETTLE_US);
    snprintf(id, sizeof id, "%d", (int)jvm);
    snprintf(library, sizeof library, "%s", agent);
    char *command[] = {(char *)(uintptr_t)weft,        "attach", "--agent", library, id,
                       "endpoint=unix:///nonexistent", NULL};
    double before = cpu_of(jvm);
    double began = now();
    struct sample s = finish(start(command, -1, -1), began);
    usleep(SETTLE_US);
    s.cpu = cpu_of(jvm) - before;
    close(input[1]);
    finish(jvm, began);
    close(output[0]);
    return s;
}

int main(int argc, char **argv) {
    if (argc < 6) {
        fprintf(stderr, "usage: bench_start runs agent weft classes jdk...\n");
        return 2;
    }
    runs = atoi(argv[1]); // NOLINT(cert-err34-c): checked
    runs = runs < 1 ? 1 : runs > MAX_RUNS ? MAX_RUNS : runs;
    agent = argv[2];
    weft = argv[3];
    classes = argv[4];
    for (int i = 5; i < argc; i++) {
        static struct variant plain[] = {
            {.name = "no agent"},
            {.name = "no agent again", .options = NULL},
            {.name = "agent", .options = ""},
            {.name = "agent, virtual=off", .options = ",virtual=off"},
            {.name = "agent, aggregated", .options = ",mode=aggregated"},
        };
        printf("%s, %d runs, medians in ms\n", argv[i], runs);
        fflush(stdout);
        compare(argv[i], plain, (int)(sizeof plain / sizeof plain[0]));
        static struct variant attached = {.name = "attach: the command; the JVM"};
        for (int run = 0; run < runs; run++) {
            attached.samples[run] = attach(argv[i]);
        }
        printf("  %-40s wall %6.1f            CPU %6.1f\n", attached.name, median(&attached, false),
               median(&attached, true));
        fflush(stdout);
    }
    return 0;
}
