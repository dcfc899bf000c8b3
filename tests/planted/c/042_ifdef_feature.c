/* kind: member; line: 8; name: JANSSON_HAVE_DECIMAL; how: absent feature macro, its code is never compiled; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *json = json_pack("{s:f}", "a", 0.5);

#ifdef JANSSON_HAVE_DECIMAL
    if (!json_is_real(json_object_get(json, "a")))
        fail("decimal isn't real");
#endif
    if (json_object_size(json) != 1)
        fail("wrong size");
    json_decref(json);
}
