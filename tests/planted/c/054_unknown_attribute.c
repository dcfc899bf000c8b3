/* kind: member; line: 5; name: returns_new_reference; how: absent attribute, of which the compiler only warns; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static __attribute__((returns_new_reference)) json_t *make(void) { return json_object(); }

static void run_tests() {
    json_t *json = make();

    if (!json)
        fail("nothing made");
    json_decref(json);
}
