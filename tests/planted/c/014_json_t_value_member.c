/* kind: member; line: 10; name: value; how: absent member of json_t; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *value = json_integer(7);

    if (value->type != JSON_INTEGER || value->refcount != 1)
        fail("wrong head");
    if (value->value != 7)
        fail("wrong value");
    json_decref(value);
}
