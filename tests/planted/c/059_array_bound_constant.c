/* kind: member; line: 6; name: JSON_PARSER_DEPTH_LIMIT; how: absent constant as the size of an array; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

static char deep[2 * JSON_PARSER_DEPTH_LIMIT + 3];

static void run_tests() {
    memset(deep, '[', sizeof(deep) - 1);
    if (json_loads(deep, 0, NULL))
        fail("loaded");
}
