/* kind: member; line: 7; name: json_iter_t; how: absent type of a local variable; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *object = json_pack("{s:i}", "a", 1);
    json_iter_t *iter = json_object_iter(object);

    if (json_integer_value(json_object_iter_value(iter)) != 1)
        fail("wrong value");
    json_decref(object);
}
