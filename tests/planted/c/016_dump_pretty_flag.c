/* kind: member; line: 7; name: JSON_PRETTY; how: absent flag in an expression of real ones; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *object = json_pack("{s:i}", "a", 1);
    char *out = json_dumps(object, JSON_SORT_KEYS | JSON_PRETTY | JSON_INDENT(4));

    if (!out)
        fail("no output");
    free(out);
    json_decref(object);
}
