/* kind: member; line: 5; name: json_object_keys; how: prototype written by hand of an absent function; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

json_t *json_object_keys(const json_t *object);

static void run_tests() {
    json_t *object = json_pack("{s:n, s:n}", "x", "y");
    json_t *keys = json_object_keys(object);

    if (json_array_size(keys) != 2)
        fail("wrong number of keys");
    json_decref(keys);
    json_decref(object);
}
