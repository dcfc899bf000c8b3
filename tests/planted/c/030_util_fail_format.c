/* kind: member; line: 11; name: fail_fmt; how: absent macro of util.h with a variable number of arguments; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    size_t i;
    json_t *array = json_array();

    for (i = 0; i < 10; i++)
        if (json_array_append_new(array, json_integer((json_int_t)i)))
            fail_fmt("appending %d failed", (int)i);
    json_decref(array);
}
