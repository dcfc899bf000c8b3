/* kind: member; line: 8; name: json_array_t; how: struct tag that nobody defines, looked into; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *array = json_pack("[i, i]", 1, 2);

    if (((struct json_array_t *)array)->entries != 2)
        fail("wrong number of entries");
    json_decref(array);
}
