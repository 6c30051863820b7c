// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests options, endpoints, resource attributes and names against their documentation.

#include "harness.h"
#include "jvmti/timeout.h"
#include "options/filter.h"
#include "options/options.h"
#include "options/printable.h"
#include "send/resource.h"
#include "wire/endpoint.h"
#include "wire/names.h"

static struct weft_options o;
static char problem[WEFT_PROBLEM_MAX];

static bool parse(const char *text) {
    problem[0] = '\0';
    return weft_options_parse(text, &o, problem);
}

TEST(hidden_characters_are_printed_as_escapes) {
    static const char *const cases[][2] = {
        {"", ""},
        {"option \"x\": caf\xc3\xa9 \xe6\xb3\xa8 \xf0\x9f\x91\x8d",
         "option \"x\": caf\xc3\xa9 \xe6\xb3\xa8 \xf0\x9f\x91\x8d"},
        {"a\nb\tc\x1b[2J\x7f", "a\\x0ab\\x09c\\x1b[2J\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m"},
        {"x\x9by", "x\\x9by"},
        {"\xe2\x80\xae"
         "a\xe2\x81\xa6"
         "b\xe2\x80\x8b",
         "\\xe2\\x80\\xaea\\xe2\\x81\\xa6b\\xe2\\x80\\x8b"},
        {"\xd8\x9c\xef\xbb\xbf", "\\xd8\\x9c\\xef\\xbb\\xbf"},
        {"broken: \xe6\xb3", "broken: \xe6\xb3"},
        {"broken: \xe6\x1b", "broken: \xe6\\x1b"},
    };
    char out[128];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_STRING(weft_printable_text(cases[i][0], out, sizeof out), cases[i][1]);
    }
    CHECK_STRING(weft_printable_text("ab\x1b", out, 6), "ab"); // an escape is never cut
    CHECK_STRING(weft_printable_text("ab\x1b", out, 7), "ab\\x1b");
    CHECK_STRING(weft_printable_text("ab\xc3\xa9", out, 4), "ab");
}

TEST(options_have_defaults) {
    CHECK(parse(NULL));
    CHECK_STRING(o.endpoint, ""); // the default sockets
    CHECK_STRING(o.peer_user, "");
    CHECK_STRING(o.service, "");
    CHECK_INT(o.depth, 32);
    CHECK_INT(o.park_depth, 32);
    CHECK_INT(o.unpark_depth, 16);
    CHECK(o.park);
    CHECK_INT(o.pool, 16 << 20);
    CHECK(parse(""));
}

TEST(options_are_read) {
    CHECK(
        parse("endpoint=tcp://collector:4327,service=orders,depth=3,pool=64k,retain=1g,"
              "definitions=2M,wait-depth=1,notify-depth=128,park=off,park-depth=2,unpark-depth=4"));
    CHECK_STRING(o.endpoint, "tcp://collector:4327");
    CHECK_STRING(o.service, "orders");
    CHECK_INT(o.depth, 3);
    CHECK_INT(o.wait_depth, 1);
    CHECK_INT(o.notify_depth, 128);
    CHECK_INT(o.park_depth, 2);
    CHECK_INT(o.unpark_depth, 4);
    CHECK(!o.park);
    CHECK_INT(o.pool, 65536);
    CHECK_INT(o.retain, 1 << 30);
    CHECK_INT(o.definitions, 2 << 20);
}

#define CHANGEABLE                                                                                 \
    "depth, wait-depth, notify-depth, park-depth, unpark-depth, monitor, wait, notify, park, "     \
    "sleep, start, interrupt, yield, mounts, cpu, owner-stacks, io, io-names, min-duration, "      \
    "include-threads, "                                                                            \
    "exclude-threads, "                                                                            \
    "include-locks, exclude-locks, pause, mode, interval, report, snapshot"
#define KNOWN                                                                                      \
    " endpoint, peer-user, peer-group, ca-file, cert-file, key-file, server-name, token-file, "    \
    "headers, file, file-size, service, " CHANGEABLE                                               \
    ", detach, status, control, virtual, pool, retain, definitions, exit-wait, give-up, "          \
    "duration, "                                                                                   \
    "series"

TEST(errors_name_the_option_and_the_remedy) {
    CHECK(!parse("endpiont=unix:///x"));
    CHECK_STRING(problem, "option \"endpiont\": unknown option; want one of" KNOWN);
    CHECK(!parse("depth=-1"));
    CHECK_STRING(problem, "option \"depth\": invalid number of frames \"-1\": want 0 to 128");
    CHECK(!parse("depth=129"));
    CHECK(!parse("depth="));
    CHECK(!parse("depth"));
    CHECK_STRING(problem,
                 "option \"depth\": missing value; want key=value with one of the keys" KNOWN);
    CHECK(!parse("mode=fast"));
    CHECK_STRING(problem, "option \"mode\": invalid mode \"fast\": want details or aggregated");
    CHECK(!parse("series=15"));
    CHECK_STRING(problem, "option \"series\": invalid number \"15\": want 16 to 65536");
    const char *const intervals[] = {
        "99ms", "", "10", "s", "-1s", "86401s", "25h", "10x", "99999999999999999999s"};
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "interval=%s", intervals[i]);
        CHECK(!parse(text));
    }
    CHECK_STRING(problem,
                 "option \"interval\": invalid interval \"99999999999999999999s\": want 100ms "
                 "to 24h, such as 10s");
    CHECK(parse("interval=100ms,mode=aggregated"));
    CHECK_INT(o.interval, 100000000);
    CHECK(parse("interval=24h"));
    CHECK_INT(o.interval, 86400000000000);
    CHECK(!parse("park=maybe"));
    CHECK_STRING(problem, "option \"park\": invalid value \"maybe\": want on or off");
    CHECK(!parse("pool=1k"));
    CHECK_STRING(problem, "option \"pool\": invalid size \"1k\": want 64k to 1g, such as 16m");
    CHECK(!parse("pool=-1m"));
    CHECK(!parse("pool=99999999999999999999g"));
    CHECK(!parse("pool=2g"));
    CHECK(!parse("retain=1x"));
    CHECK(!parse("exit-wait=61s"));
    CHECK_STRING(problem,
                 "option \"exit-wait\": invalid duration \"61s\": want 0 to 60s, such as 20ms");
    CHECK(parse("exit-wait=60s"));
    CHECK_INT(o.exit_wait, 60000000000);
    CHECK(parse(""));
    CHECK_INT(o.exit_wait, 500000000);
    CHECK_INT(o.give_up, 0);
    CHECK_INT(o.duration, 0);
    CHECK(parse("give-up=60s,duration=86400s"));
    CHECK_INT(o.give_up, 60000000000);
    CHECK_INT(o.duration, 86400000000000);
    CHECK(!parse("duration=86401s"));
    CHECK_STRING(problem, "option \"duration\": invalid duration \"86401s\": want 0 to 86400s, "
                          "such as 20ms");
    CHECK(!parse("service="));
    CHECK(!parse("endpoint=/tmp/x"));
    CHECK_STRING(problem, "option \"endpoint\": invalid endpoint \"/tmp/x\": want unix:///path, "
                          "tcp://host:port or tls://host:port");
}

static void collect(void *to, const char *key, const char *value) {
    char *text = to;
    size_t len = strlen(text);
    snprintf(text + len, 4096 - len, "%s=%s ", key, value);
}

TEST(options_change_while_the_agent_runs) {
    char text[4096] = "";
    CHECK(parse("endpoint=unix:///a,pool=1m,depth=3"));
    CHECK(weft_options_set("depth", "5", WEFT_BY_CONTROL, &o, problem));
    CHECK(weft_options_set("pause", "on", WEFT_BY_CONTROL, &o, problem));
    CHECK(weft_options_set("snapshot", "now", WEFT_BY_CONTROL, &o, problem));
    CHECK(o.snapshot);
    weft_options_show(&o, collect, text);
    CHECK(strstr(text, "depth=5 wait-depth=16 notify-depth=4 ") == text);
    CHECK(strstr(text, " pause=on ") != NULL);
    CHECK(strstr(text, "endpoint") == NULL);
    CHECK(strstr(text, "snapshot") == NULL);

    CHECK(!weft_options_set("snapshot", "later", WEFT_BY_CONTROL, &o, problem));
    CHECK_STRING(problem, "option \"snapshot\": invalid value \"later\": want now");
    CHECK(!weft_options_set("pool", "2m", WEFT_BY_CONTROL, &o, problem));
    CHECK_STRING(problem, "option \"pool\": cannot be changed remotely; set it when starting the "
                          "agent");
    CHECK(!weft_options_set("detach", "now", WEFT_BY_CONTROL, &o, problem));
    CHECK_STRING(problem,
                 "option \"detach\": cannot be changed remotely; set it when attaching the "
                 "agent");
    CHECK(!weft_options_set("", "", WEFT_BY_CONTROL, &o, problem));
    CHECK_STRING(problem, "option \"\": unknown option; want one of " CHANGEABLE);

    CHECK(weft_options_change("endpoint=unix:///a,pool=1024k", WEFT_AT_ATTACH, &o, problem));
    CHECK(!weft_options_change("endpoint=unix:///b", WEFT_AT_ATTACH, &o, problem));
    CHECK_STRING(problem, "option \"endpoint\": cannot be changed while the agent runs; detach it "
                          "first");
    CHECK_STRING(o.endpoint, "unix:///a");
    CHECK(weft_options_change("detach=now", WEFT_AT_ATTACH, &o, problem));
    CHECK(o.detach);
}

TEST(durations_are_read_and_shown) {
    char text[4096] = "";
    CHECK(parse("min-duration=20ms"));
    CHECK_INT(o.min_duration, 20000000);
    weft_options_show(&o, collect, text);
    CHECK(strstr(text, "min-duration=20ms ") != NULL);
    CHECK(parse("min-duration=0"));
    CHECK(parse("min-duration=1500us"));
    text[0] = '\0';
    weft_options_show(&o, collect, text);
    CHECK(strstr(text, "min-duration=1500us ") != NULL);
    CHECK(parse("min-duration=10s"));
    CHECK(!parse("min-duration=11s"));
    CHECK_STRING(problem, "option \"min-duration\": invalid duration \"11s\": want 0 to 10s, such "
                          "as 20ms");
    CHECK(!parse("min-duration=5"));
    CHECK(!parse("min-duration=-5ms"));
    CHECK(!parse("min-duration=ms"));
    CHECK(!parse("min-duration=99999999999999999999ms"));
}

TEST(patterns_match) {
    CHECK(weft_filter_match("main", "main"));
    CHECK(!weft_filter_match("main", "main2"));
    CHECK(!weft_filter_match("main", "mai"));
    CHECK(weft_filter_match("a|b|main", "main"));
    CHECK(weft_filter_match("http-*", "http-exec-1"));
    CHECK(weft_filter_match("*-exec-?", "http-exec-1"));
    CHECK(!weft_filter_match("*-exec-?", "http-exec-12"));
    CHECK(weft_filter_match("*a*b*c", "xxaxxbaxbxxc"));
    CHECK(!weft_filter_match("*a*b*c", "xxaxxbaxbxxcd"));
    CHECK(weft_filter_match("*", ""));
    CHECK(weft_filter_match("", ""));
    CHECK(!weft_filter_match("", "a"));
    CHECK(weft_filter_match("x|*", "anything"));
    CHECK(!weft_filter_match("?", ""));
}

TEST(filters_include_and_exclude) {
    CHECK(parse("include-threads=http-*|main,exclude-threads=*-9,exclude-locks=java.*"));
    unsigned before = atomic_load(&weft_filter.generation);
    weft_filter_apply(&o);
    CHECK(atomic_load(&weft_filter.generation) != before);
    CHECK(atomic_load(&weft_filter.threads) && atomic_load(&weft_filter.locks));
    CHECK(weft_filter_thread("main"));
    CHECK(weft_filter_thread("http-1"));
    CHECK(!weft_filter_thread("http-9"));
    CHECK(!weft_filter_thread("GC"));
    CHECK(weft_filter_lock("com.acme.Book"));
    CHECK(!weft_filter_lock("java.lang.Object"));
    CHECK(weft_options_set("include-threads", "", WEFT_BY_CONTROL, &o, problem));
    CHECK(weft_options_set("exclude-threads", "", WEFT_BY_CONTROL, &o, problem));
    weft_filter_apply(&o);
    CHECK(!atomic_load(&weft_filter.threads));
    CHECK(weft_filter_thread("GC"));
}

TEST(timeouts) {
    const int64_t now = 1700000000000000000;
    CHECK_INT(weft_timeout_nanoseconds(3), 3000000);
    CHECK_INT(weft_timeout_nanoseconds(INT64_MAX), INT64_MAX);
    CHECK_INT(weft_timeout_nanoseconds(-1), 0);
    CHECK_INT(weft_timeout_nanoseconds(INT64_MIN), 0);
    CHECK_INT(weft_timeout_of_park(false, 0, 0), 0);
    CHECK_INT(weft_timeout_of_park(false, 5, 0), 5);
    CHECK_INT(weft_timeout_of_park(false, -5, 0), 1);
    CHECK_INT(weft_timeout_of_park(true, now / 1000000 + 2, now), 2000000);
    CHECK_INT(weft_timeout_of_park(true, now / 1000000, now), 1);
    CHECK_INT(weft_timeout_of_park(true, 0, now), 1);
    CHECK_INT(weft_timeout_of_park(true, -1, now), 1);
    CHECK_INT(weft_timeout_of_park(true, INT64_MAX, now), INT64_MAX - now);
}

TEST(endpoints) {
    CHECK(weft_endpoint_valid("unix:///tmp/weft.sock"));
    CHECK(weft_endpoint_valid("tcp://localhost:1"));
    CHECK(weft_endpoint_valid("tcp://[::1]:65535"));
    CHECK(weft_endpoint_valid("tls://collector.example:4327"));
    CHECK(!weft_endpoint_valid("tls://collector.example"));
    CHECK(!weft_endpoint_valid("unix://tmp/weft.sock"));
    CHECK(!weft_endpoint_valid("unix:///"));
    CHECK(!weft_endpoint_valid("")); // the default sockets cannot be given
    CHECK(!weft_endpoint_valid("tcp://localhost"));
    CHECK(!weft_endpoint_valid("tcp://:80"));
    CHECK(!weft_endpoint_valid("tcp://host:0"));
    CHECK(!weft_endpoint_valid("tcp://host:65536"));
    CHECK(!weft_endpoint_valid("tcp://host:80x"));
    CHECK(!weft_endpoint_valid("tcp://::1:80"));
    CHECK(!weft_endpoint_valid("http://host:80"));
    char longer[300] = "unix:///";
    memset(longer + 8, 'x', 200);
    CHECK(!weft_endpoint_valid(longer));
}

static const char *value_of(const struct weft_resource *r, const char *key) {
    for (uint16_t i = 0; i < r->count; i++) {
        if (strcmp(r->list[i].key, key) == 0) {
            return r->list[i].value;
        }
    }
    return "(none)";
}

TEST(resource_lists) {
    struct weft_resource r = {0};
    CHECK(weft_resource_add_list(&r, "a=1, b = x%20y ,c=%C3%BC%2C,d="));
    CHECK_STRING(value_of(&r, "a"), "1");
    CHECK_STRING(value_of(&r, "b"), "x y");
    CHECK_STRING(value_of(&r, "c"), "ü,");
    CHECK_STRING(value_of(&r, "d"), "(none)");
    CHECK(!weft_resource_add_list(&r, "e=1,f"));
    CHECK(!weft_resource_add_list(&r, "e=%2"));
    CHECK(!weft_resource_add_list(&r, "e=%zz"));
    CHECK(!weft_resource_add_list(&r, "=x"));
    CHECK_STRING(value_of(&r, "e"), "(none)");
    weft_resource_free(&r);
}

TEST(service_names) {
    const char *const commands[][2] = {
        {"com.acme.Main --password=x", "com.acme.Main"},
        {"/opt/shop/orders.jar x y", "orders"},
        {"shop.module/com.acme.Main x", "com.acme.Main"},
        {"", "unknown_service:java"},
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct weft_resource r = {0};
        weft_resource_add_command(&r, commands[i][0]);
        CHECK_STRING(value_of(&r, "service.name"), commands[i][1]);
        CHECK(strstr(value_of(&r, "process.command"), "password") == NULL);
        weft_resource_free(&r);
    }
    struct weft_resource r = {0};
    setenv("OTEL_SERVICE_NAME", "by-variable", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=by-list,host.name=h,k=v", 1);
    weft_resource_add_process(&r, NULL);
    weft_resource_add_command(&r, "Main");
    CHECK_STRING(value_of(&r, "service.name"), "by-variable");
    CHECK_STRING(value_of(&r, "host.name"), "h");
    CHECK_STRING(value_of(&r, "os.type"), "linux");
    weft_resource_free(&r);
    weft_resource_add(&r, "service.name", "by-option");
    weft_resource_add_process(&r, "service.name=by-property,v=k");
    CHECK_STRING(value_of(&r, "service.name"), "by-option");
    CHECK_STRING(value_of(&r, "v"), "k");
    CHECK_STRING(value_of(&r, "k"), "(none)"); // the property replaces the variable
    weft_resource_free(&r);
}

TEST(names) {
    char class[] = "Lcom/acme/Main$1;";
    char array[] = "[Ljava/lang/String;";
    char primitive[] = "[I";
    char hidden[] = "Lcom/acme/Main$$Lambda.0x1;";
    char pair[] = "a\xed\xa0\xbd\xed\xb7\xb5z";
    char zero[] = "a\xc0\x80z";
    char alone[] = "\xed\xa0\xbdz";
    CHECK_STRING(weft_names_binary(class), "com.acme.Main$1");
    CHECK_STRING(weft_names_binary(array), "[Ljava.lang.String;");
    CHECK_STRING(weft_names_binary(primitive), "[I");
    CHECK_STRING(weft_names_binary(hidden), "com.acme.Main$$Lambda.0x1");
    weft_names_utf8(pair);
    CHECK_STRING(pair, "a\xf0\x9f\x97\xb5z");
    weft_names_utf8(zero);
    CHECK_STRING(zero, "a?z");
    weft_names_utf8(alone);
    CHECK_STRING(alone, "?z");
}

int main(void) {
    RUN(hidden_characters_are_printed_as_escapes);
    RUN(options_have_defaults);
    RUN(options_are_read);
    RUN(errors_name_the_option_and_the_remedy);
    RUN(options_change_while_the_agent_runs);
    RUN(durations_are_read_and_shown);
    RUN(patterns_match);
    RUN(filters_include_and_exclude);
    RUN(timeouts);
    RUN(endpoints);
    RUN(resource_lists);
    RUN(service_names);
    RUN(names);
    return harness_end("text");
}
