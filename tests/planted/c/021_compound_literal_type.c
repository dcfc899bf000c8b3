/* kind: member; line: 7; name: json_dump_options_t; how: absent type of a compound literal; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *json = json_pack("[]");
    void *options = &(json_dump_options_t){.indent = 2};

    if (!json || !options)
        fail("missing");
    json_decref(json);
}
