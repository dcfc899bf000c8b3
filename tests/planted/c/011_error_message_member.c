/* kind: member; line: 11; name: message; how: absent member of json_error_t; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

static void run_tests() {
    json_error_t error;

    if (json_loads("[1, 2", 0, &error))
        fail("loaded");
    if (!strstr(error.message, "end of file"))
        fail("wrong message");
}
