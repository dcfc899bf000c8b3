/* kind: member; line: 10; name: json_object_has_key; how: absent function, called directly; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void test_has_key(void) {
    json_t *object = json_pack("{s:i}", "a", 1);

    if (!object)
        fail("unable to pack");
    if (!json_object_has_key(object, "a"))
        fail("key is missing");
    json_decref(object);
}

static void run_tests() { test_has_key(); }
