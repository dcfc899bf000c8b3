/* kind: member; line: 8; name: JSON_MAX_NESTING; how: absent macro in an #if, where it counts as 0; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *json = json_loads("[[[[]]]]", 0, NULL);

#if JSON_MAX_NESTING > 0
    if (json)
        fail("too deep, but loaded");
#else
    if (!json)
        fail("not loaded");
#endif
    json_decref(json);
}
