/* kind: member; line: 6; name: json_freep; how: absent function named by an attribute; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *json __attribute__((cleanup(json_freep))) = json_object();

    if (json_object_set_new(json, "a", json_true()))
        fail("unable to set");
}
