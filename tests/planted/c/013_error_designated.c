/* kind: member; line: 7; name: end_column; how: absent member in a designated initialiser; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static const json_error_t expected[] = {
    {.line = 1, .column = 1, .position = 1},
    {.line = 1, .column = 2, .end_column = 4},
};

static void run_tests() {
    json_error_t error;

    if (json_loads("]", 0, &error) || error.line != expected[0].line)
        fail("wrong line");
}
