// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests options from environment variables.

#include <stdlib.h>

#include "harness.h"
#include "options/environment.h"

static struct weft_options o;
static char problem[WEFT_PROBLEM_MAX];

struct variable {
    const char *name;
    const char *value;
};

// Parses with up to three variables set.
static bool parse(struct variable a, struct variable b, struct variable c) {
    const struct variable all[] = {a, b, c};
    problem[0] = '\0';
    for (size_t i = 0; i < 3 && all[i].name != NULL; i++) {
        (void)setenv(all[i].name, all[i].value, 1);
    }
    bool ok = weft_environment_parse(&o, problem);
    for (size_t i = 0; i < 3 && all[i].name != NULL; i++) {
        (void)unsetenv(all[i].name);
    }
    return ok;
}

static const struct variable none;

static void append(void *to, const char *key, const char *value) {
    size_t len = strlen(to);
    snprintf((char *)to + len, 4096 - len, "%s=%s\n", key, value);
}

TEST(without_variables_the_defaults_are_in_effect) {
    struct weft_options defaults;
    char expected[4096] = "";
    char found[4096] = "";
    weft_options_default(&defaults);
    CHECK(parse(none, none, none));
    weft_options_show(&defaults, append, expected);
    weft_options_show(&o, append, found);
    CHECK_STRING(found, expected);
    CHECK_STRING(o.endpoint, "");
    CHECK_INT(o.pool, defaults.pool);
}

TEST(each_option_has_a_variable) {
    CHECK(parse((struct variable){"WEFT_ENDPOINT", "tcp://localhost:4327"},
                (struct variable){"WEFT_PARK_DEPTH", "7"},
                (struct variable){"WEFT_EXCLUDE_THREADS", "a|b,c"}));
    CHECK_STRING(o.endpoint, "tcp://localhost:4327");
    CHECK_INT(o.park_depth, 7);
    CHECK_STRING(o.exclude_threads, "a|b,c"); // a comma separates nothing here
    size_t options = 0;
    for (const char *key; (key = weft_options_key(options)) != NULL; options++) {
        CHECK(strcmp(key, "detach") != 0 && strcmp(key, "report") != 0 &&
              strcmp(key, "snapshot") != 0);
    }
    CHECK_INT(options, 47);
}

TEST(one_variable_has_several_options) {
    CHECK(parse((struct variable){"WEFT_OPTIONS", "depth=4,park=off,endpoint=unix:///a"},
                (struct variable){"WEFT_ENDPOINT", "unix:///b"}, none));
    CHECK_INT(o.depth, 4);
    CHECK(!o.park);
    CHECK_STRING(o.endpoint, "unix:///b"); // the variable of the option comes first
}

TEST(empty_and_other_variables_do_not_count) {
    CHECK(parse((struct variable){"WEFT_DEPTH", ""}, (struct variable){"WEFT_OPTIONS", ""},
                (struct variable){"WEFT_WINDOW", "10s"}));
    CHECK_INT(o.depth, 32);
    CHECK(
        parse((struct variable){"WEFT_DETACH", "now"}, (struct variable){"WEFT_depth", "9"}, none));
    CHECK(!o.detach);
    CHECK_INT(o.depth, 32);
}

TEST(errors_name_the_variable) {
    CHECK(!parse((struct variable){"WEFT_WAIT_DEPTH", "deep"}, none, none));
    CHECK_STRING(problem, "WEFT_WAIT_DEPTH: option \"wait-depth\": invalid number of frames "
                          "\"deep\": want 0 to 128");
    CHECK(!parse((struct variable){"WEFT_OPTIONS", "depth=4,park=maybe"}, none, none));
    CHECK_STRING(problem, "WEFT_OPTIONS: option \"park\": invalid value \"maybe\": want on or off");
    CHECK(!parse((struct variable){"WEFT_CA_FILE", "/a"}, none, none));
    CHECK_STRING(problem,
                 "option \"ca-file\": only for TLS; want endpoint=tls://host:port with it");
    CHECK(!parse((struct variable){"WEFT_OPTIONS", "detach"}, none, none));
    CHECK(strncmp(problem, "WEFT_OPTIONS: option \"detach\": missing value", 44) == 0);
    CHECK(strlen(problem) < WEFT_PROBLEM_MAX);
}

TEST(it_is_known_whether_there_are_options) {
    CHECK(!weft_environment_given());
    (void)setenv("WEFT_STATE", "/a", 1); // of a collector
    CHECK(!weft_environment_given());
    (void)setenv("WEFT_POOL", "1m", 1);
    CHECK(weft_environment_given());
    (void)unsetenv("WEFT_POOL");
    (void)setenv("WEFT_OPTIONS", "pool=1m", 1);
    CHECK(weft_environment_given());
    (void)unsetenv("WEFT_OPTIONS");
    (void)unsetenv("WEFT_STATE");
}

int main(void) {
    extern char **environ;
    static char *empty[] = {NULL};
    environ = empty;
    RUN(without_variables_the_defaults_are_in_effect);
    RUN(each_option_has_a_variable);
    RUN(one_variable_has_several_options);
    RUN(empty_and_other_variables_do_not_count);
    RUN(errors_name_the_variable);
    RUN(it_is_known_whether_there_are_options);
    return harness_end("environment_test");
}
