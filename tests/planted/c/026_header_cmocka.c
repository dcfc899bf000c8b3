/* kind: module; line: 5; name: cmocka.h; how: well known header that the project does not have; dir: test/suites/api */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *json = json_array();
    assert_int_equal(json_array_size(json), 0);
    json_decref(json);
}
