/* kind: member; line: 6; name: offset; how: absent member behind a pointer, in a helper; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static int is_at(const json_error_t *error, int line, int column) {
    return error->line == line && error->column == column && error->offset >= column;
}

static void run_tests() {
    json_error_t error;

    if (json_loads("[\n1 2]", 0, &error))
        fail("loaded");
    if (!is_at(&error, 2, 3))
        fail("wrong place");
}
