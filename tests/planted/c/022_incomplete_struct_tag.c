/* kind: member; line: 5; name: json_parser; how: struct tag that nobody defines, used through pointers only; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static struct json_parser *parser_of(json_t *json) { return (void *)json; }

static void run_tests() {
    json_t *json = json_true();

    if ((void *)parser_of(json) != (void *)json)
        fail("wrong pointer");
}
