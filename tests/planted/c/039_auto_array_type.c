/* kind: member; line: 7; name: json_auto_str_t; how: absent macro type like json_auto_t; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_auto_t *object = json_object();
    json_auto_str_t *out = json_dumps(object, 0);

    if (!out)
        fail("no output");
}
