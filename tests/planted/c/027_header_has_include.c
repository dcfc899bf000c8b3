/* kind: module; line: 4; name: jansson_schema.h; how: absent header behind __has_include; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#if __has_include(<jansson_schema.h>)
#include <jansson_schema.h>
#define with_schema 1
#else
#define with_schema 0
#endif

static void run_tests() {
    json_t *json = json_object();

    if (with_schema && !json)
        fail("no object to validate");
    json_decref(json);
}
