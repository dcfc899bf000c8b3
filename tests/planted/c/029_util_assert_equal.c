/* kind: member; line: 9; name: check_equal; how: absent macro of util.h; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *a = json_pack("{s:[i]}", "a", 1);
    json_t *b = json_deep_copy(a);

    check_equal(a, b);
    json_decref(a);
    json_decref(b);
}
