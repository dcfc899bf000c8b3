/* kind: parameter; line: 7; name: u; how: letter that formats of json_pack do not have; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_error_t error;
    json_t *json = json_pack_ex(&error, 0, "{s:u}", "a", 5u);

    if (json && json_integer_value(json_object_get(json, "a")) != 5)
        fail("wrong value");
    json_decref(json);
}
