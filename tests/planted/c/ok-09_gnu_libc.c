/* kind: none; line: 0; name: -; how: functions that only _GNU_SOURCE declares, dlsym and weak of real names; dir: test/suites/api */
#define _GNU_SOURCE
#include "util.h"
#include <dlfcn.h>
#include <jansson.h>
#include <string.h>

extern int json_equal(const json_t *, const json_t *) __attribute__((weak));

static void run_tests() {
    char *text;
    json_t *json;

    if (asprintf(&text, "[%" JSON_INTEGER_FORMAT ", %d]", (json_int_t)1, 2) < 0)
        fail("asprintf");
    json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (!json_equal || !json_equal(json, json) || !memmem(text, 6, "2", 1))
        fail("not equal");
    if (!dlsym(RTLD_DEFAULT, "strdup") || strchrnul(text, '!')[0])
        fail("no strdup");
    json_decref(json);
    free(text);
}
