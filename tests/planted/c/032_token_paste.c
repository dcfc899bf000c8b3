/* kind: member; line: 13; name: json_string_clear; how: absent function put together by ## from json_, the argument string on this line and _clear; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

#define CLEAR(kind, json)                                                                \
    if (json_##kind##_clear(json))                                                       \
    fail("clearing failed: " #kind)

static void run_tests() {
    json_t *array = json_array(), *string = json_string("x");

    CLEAR(array, array);
    CLEAR(string, string);
    json_decref(array);
    json_decref(string);
}
