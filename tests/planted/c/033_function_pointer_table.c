/* kind: member; line: 8; name: json_object_update_if_absent; how: absent function as a value in a table of pointers; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static int (*const ways[])(json_t *, json_t *) = {
    json_object_update,
    json_object_update_existing,
    json_object_update_if_absent,
};

static void run_tests() {
    size_t i;

    for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        json_t *a = json_object(), *b = json_object();
        if (ways[i](a, b))
            fail("update failed");
        json_decref(a);
        json_decref(b);
    }
}
