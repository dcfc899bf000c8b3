/* kind: member; line: 5; name: json_validate; how: absent function with a prototype, called in dead code; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

int json_validate(const json_t *json, const json_t *schema);

static void run_tests() {
    json_t *json = json_object();

    if (0 && json_validate(json, json) != 0)
        fail("invalid");
    if (!json_is_object(json))
        fail("no object");
    json_decref(json);
}
