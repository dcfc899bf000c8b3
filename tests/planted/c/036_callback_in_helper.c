/* kind: member; line: 15; name: json_undefined; how: absent function handed on to a helper; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void for_one(json_t *(*make)(void)) {
    json_t *json = make();
    if (!json)
        fail("nothing made");
    json_decref(json);
}

static void run_tests() {
    for_one(json_object);
    for_one(json_array);
    for_one(json_undefined);
}
