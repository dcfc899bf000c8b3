/* kind: member; line: 5; name: json_object_capacity; how: extern declaration of an absent function; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

extern size_t json_object_capacity(const json_t *object);

static void run_tests() {
    json_t *object = json_object();
    size_t before = json_object_capacity(object);

    if (json_object_size(object) > before)
        fail("more keys than room for them");
    json_decref(object);
}
