// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// What was the agent told? See options.h.

#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"
#include "stacks.h"

static const size_t KIB = 1024;
static const size_t MIB = 1048576;
static const size_t GIB = 1073741824;

struct option;

// A type of values: how they are read into, and shown from, the place in struct weft_options.
struct type {
    bool (*take)(const struct option *option, const char *value, void *to, char *problem);
    void (*show)(const void *from, char text[WEFT_VALUE_MAX]);
};

struct option {
    const char *key;
    const struct type *type;
    size_t offset; // in struct weft_options
    size_t least;  // of a size: bytes; of a text: 0 if it may be empty; of a count: it
    size_t most;   // of a text: bytes with the zero at its end; of a count: it
    enum weft_when latest;
};

static bool take_text(const struct option *option, const char *value, void *to, char *problem) {
    size_t len = strlen(value);
    if (len < option->least || len >= option->most) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%s\": give %zu to %zu characters",
                 option->key, option->least, option->most - 1);
        return false;
    }
    memcpy(to, value, len + 1);
    return true;
}

static void show_text(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", (const char *)from);
}

static bool take_endpoint(const struct option *option, const char *value, void *to, char *problem) {
    if (!weft_endpoint_valid(value)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.128s\" is no endpoint; give unix:///path or tcp://host:port",
                 option->key, value);
        return false;
    }
    return take_text(option, value, to, problem);
}

static bool take_depth(const struct option *option, const char *value, void *to, char *problem) {
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (value[0] == '\0' || *end != '\0' || errno != 0 || n < 0 || n > WEFT_MAX_DEPTH) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not a number of frames; give 0 to %d", option->key,
                 value, WEFT_MAX_DEPTH);
        return false;
    }
    *(int *)to = (int)n;
    return true;
}

static void show_depth(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%d", *(const int *)from);
}

static bool take_switch(const struct option *option, const char *value, void *to, char *problem) {
    bool on = strcmp(value, "on") == 0;
    if (!on && strcmp(value, "off") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%s\": \"%.64s\" is neither on nor off",
                 option->key, value);
        return false;
    }
    *(bool *)to = on;
    return true;
}

static void show_switch(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", *(const bool *)from ? "on" : "off");
}

static bool take_mode(const struct option *option, const char *value, void *to, char *problem) {
    bool aggregated = strcmp(value, "aggregated") == 0;
    if (!aggregated && strcmp(value, "details") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is no mode; give details or aggregated", option->key,
                 value);
        return false;
    }
    *(bool *)to = aggregated;
    return true;
}

static void show_mode(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%s", *(const bool *)from ? "aggregated" : "details");
}

static const struct {
    const char *suffix;
    int64_t ns;
} time_units[] = {{"h", 3600000000000}, {"m", 60000000000}, {"s", 1000000000}, {"ms", 1000000}};

enum { TIME_UNITS = sizeof time_units / sizeof time_units[0] };

// 100 ms to 24 h.
static bool take_interval(const struct option *option, const char *value, void *to, char *problem) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    int64_t unit = 0;
    for (size_t i = 0; i < TIME_UNITS; i++) {
        unit = strcmp(end, time_units[i].suffix) == 0 ? time_units[i].ns : unit;
    }
    if (value[0] < '0' || value[0] > '9' || errno != 0 || unit == 0 || n > 86400000 ||
        (int64_t)n > 86400000000000 / unit || (int64_t)n * unit < 100000000) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is no interval; give 100ms to 24h, such as 10s",
                 option->key, value);
        return false;
    }
    *(int64_t *)to = (int64_t)n * unit;
    return true;
}

static void show_interval(const void *from, char text[WEFT_VALUE_MAX]) {
    int64_t ns = *(const int64_t *)from;
    size_t i = 0;
    while (i + 1 < TIME_UNITS && ns % time_units[i].ns != 0) {
        i++;
    }
    snprintf(text, WEFT_VALUE_MAX, "%lld%s", (long long)(ns / time_units[i].ns),
             time_units[i].suffix);
}

static bool take_count(const struct option *option, const char *value, void *to, char *problem) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || n < option->least ||
        n > option->most) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not their number; give %zu to %zu", option->key,
                 value, option->least, option->most);
        return false;
    }
    *(size_t *)to = (size_t)n;
    return true;
}

static bool take_command(const struct option *option, const char *value, void *to, char *problem) {
    if (strcmp(value, "now") != 0) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not what it takes; give now", option->key, value);
        return false;
    }
    *(bool *)to = true;
    return true;
}

static size_t unit_of(const char *suffix) {
    static const char *const suffixes[] = {"", "k", "m", "g", "K", "M", "G"};
    const size_t units[] = {1, KIB, MIB, GIB, KIB, MIB, GIB};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(suffix, suffixes[i]) == 0) {
            return units[i];
        }
    }
    return 0;
}

static bool take_bytes(const struct option *option, const char *value, void *to, char *problem) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    size_t unit = unit_of(end);
    bool number = value[0] >= '0' && value[0] <= '9' && errno == 0 && unit != 0;
    if (!number || n > GIB / unit || n * unit < option->least) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": \"%.64s\" is not a size; give %zuk to 1g, such as 16m",
                 option->key, value, option->least / KIB);
        return false;
    }
    *(size_t *)to = (size_t)n * unit;
    return true;
}

static void show_bytes(const void *from, char text[WEFT_VALUE_MAX]) {
    snprintf(text, WEFT_VALUE_MAX, "%zu", *(const size_t *)from);
}

static const struct type TEXT = {take_text, show_text};
static const struct type ENDPOINT = {take_endpoint, show_text};
static const struct type DEPTH = {take_depth, show_depth};
static const struct type SWITCH = {take_switch, show_switch};
static const struct type BYTES = {take_bytes, show_bytes};
static const struct type MODE = {take_mode, show_mode};
static const struct type INTERVAL = {take_interval, show_interval};
static const struct type COUNT = {take_count, show_bytes};
static const struct type COMMAND = {take_command, NULL};

#define AT(field) offsetof(struct weft_options, field)

static const struct option table[] = {
    {"endpoint", &ENDPOINT, AT(endpoint), 1, WEFT_ENDPOINT_MAX, WEFT_AT_START},
    {"service", &TEXT, AT(service), 1, WEFT_SERVICE_MAX, WEFT_AT_START},
    {"depth", &DEPTH, AT(depth), 0, 0, WEFT_BY_CONTROL},
    {"wait-depth", &DEPTH, AT(wait_depth), 0, 0, WEFT_BY_CONTROL},
    {"notify-depth", &DEPTH, AT(notify_depth), 0, 0, WEFT_BY_CONTROL},
    {"park-depth", &DEPTH, AT(park_depth), 0, 0, WEFT_BY_CONTROL},
    {"unpark-depth", &DEPTH, AT(unpark_depth), 0, 0, WEFT_BY_CONTROL},
    {"monitor", &SWITCH, AT(monitor), 0, 0, WEFT_BY_CONTROL},
    {"wait", &SWITCH, AT(wait), 0, 0, WEFT_BY_CONTROL},
    {"notify", &SWITCH, AT(notify), 0, 0, WEFT_BY_CONTROL},
    {"park", &SWITCH, AT(park), 0, 0, WEFT_BY_CONTROL},
    {"sleep", &SWITCH, AT(sleep), 0, 0, WEFT_BY_CONTROL},
    {"start", &SWITCH, AT(start), 0, 0, WEFT_BY_CONTROL},
    {"interrupt", &SWITCH, AT(interrupt), 0, 0, WEFT_BY_CONTROL},
    {"yield", &SWITCH, AT(yield), 0, 0, WEFT_BY_CONTROL},
    {"mounts", &SWITCH, AT(mounts), 0, 0, WEFT_BY_CONTROL},
    {"pause", &SWITCH, AT(pause), 0, 0, WEFT_BY_CONTROL},
    {"mode", &MODE, AT(aggregated), 0, 0, WEFT_BY_CONTROL},
    {"interval", &INTERVAL, AT(interval), 0, 0, WEFT_BY_CONTROL},
    {"report", &COMMAND, AT(report), 0, 0, WEFT_BY_CONTROL},
    {"snapshot", &COMMAND, AT(snapshot), 0, 0, WEFT_BY_CONTROL},
    {"detach", &COMMAND, AT(detach), 0, 0, WEFT_AT_ATTACH},
    {"control", &SWITCH, AT(control), 0, 0, WEFT_AT_ATTACH},
    {"virtual", &SWITCH, AT(virtual), 0, 0, WEFT_AT_START},
    {"pool", &BYTES, AT(pool), 65536, 0, WEFT_AT_START},
    {"retain", &BYTES, AT(retain), 1048576, 0, WEFT_AT_START},
    {"definitions", &BYTES, AT(definitions), 1048576, 0, WEFT_AT_START},
    {"series", &COUNT, AT(series), 16, 65536, WEFT_AT_START},
};

enum { OPTIONS = sizeof table / sizeof table[0] };

static const struct option *find(const char *key) {
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strcmp(table[i].key, key) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

// Appends the keys that can be given at that time.
static void add_known(enum weft_when when, char *problem) {
    const char *separator = " ";
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].latest >= when) {
            size_t len = strlen(problem);
            snprintf(problem + len, WEFT_PROBLEM_MAX - len, "%s%s", separator, table[i].key);
            separator = ", ";
        }
    }
}

// To an agent that runs, the same value may be given again.
static bool is_as_given(const struct option *option, const char *value,
                        const struct weft_options *options) {
    struct weft_options other = *options;
    char is[WEFT_VALUE_MAX] = "";
    char given[WEFT_VALUE_MAX] = "";
    char problem[WEFT_PROBLEM_MAX];
    if (option->type->show == NULL ||
        !option->type->take(option, value, (char *)&other + option->offset, problem)) {
        return false;
    }
    option->type->show((const char *)options + option->offset, is);
    option->type->show((const char *)&other + option->offset, given);
    return strcmp(is, given) == 0;
}

bool weft_options_set(const char *key, const char *value, enum weft_when when,
                      struct weft_options *options, char problem[WEFT_PROBLEM_MAX]) {
    const struct option *option = find(key);
    if (option == NULL) {
        snprintf(problem, WEFT_PROBLEM_MAX, "option \"%.64s\": unknown option; known are", key);
        add_known(when, problem);
        return false;
    }
    if (option->latest >= when) {
        return option->type->take(option, value, (char *)options + option->offset, problem);
    }
    if (when == WEFT_BY_CONTROL) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": cannot be changed from here; give it when the agent is %s", key,
                 option->latest == WEFT_AT_START ? "started" : "attached to");
        return false;
    }
    if (!is_as_given(option, value, options)) {
        snprintf(problem, WEFT_PROBLEM_MAX,
                 "option \"%s\": cannot be changed while the agent runs; detach it first", key);
        return false;
    }
    return true;
}

static bool take_pairs(char *text, enum weft_when when, struct weft_options *options,
                       char *problem) {
    char *rest;
    for (char *pair = strtok_r(text, ",", &rest); pair != NULL; pair = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(pair, '=');
        if (equals == NULL) {
            snprintf(problem, WEFT_PROBLEM_MAX,
                     "option \"%.64s\": no value; write key=value, known keys are", pair);
            add_known(when, problem);
            return false;
        }
        *equals = '\0';
        if (!weft_options_set(pair, equals + 1, when, options, problem)) {
            return false;
        }
    }
    return true;
}

bool weft_options_change(const char *text, enum weft_when when, struct weft_options *options,
                         char problem[WEFT_PROBLEM_MAX]) {
    char *copy = strdup(text == NULL ? "" : text);
    if (copy == NULL) {
        snprintf(problem, WEFT_PROBLEM_MAX, "no memory for the options; give the JVM less heap");
        return false;
    }
    bool ok = take_pairs(copy, when, options, problem);
    free(copy);
    return ok;
}

void weft_options_default(struct weft_options *options) {
    *options = (struct weft_options){
        .endpoint = "unix:///tmp/weft.sock",
        .depth = 16,
        .wait_depth = 6,
        .notify_depth = 0,
        .park_depth = 16,
        .unpark_depth = 0,
        .monitor = true,
        .wait = true,
        .notify = true,
        .park = true,
        .sleep = true,
        .start = true,
        .interrupt = true,
        .virtual = true,
        .control = true,
        .interval = 10000000000,
        .series = 4096,
        .pool = 16 * MIB,
        .retain = 8 * MIB,
        .definitions = 64 * MIB,
    };
}

bool weft_options_parse(const char *text, struct weft_options *options,
                        char problem[WEFT_PROBLEM_MAX]) {
    weft_options_default(options);
    return weft_options_change(text, WEFT_AT_START, options, problem);
}

void weft_options_show(const struct weft_options *options,
                       void (*put)(void *to, const char *key, const char *value), void *to) {
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &table[i];
        if (option->latest == WEFT_BY_CONTROL && option->type->show != NULL) {
            char text[WEFT_VALUE_MAX] = "";
            option->type->show((const char *)options + option->offset, text);
            put(to, option->key, text);
        }
    }
}
