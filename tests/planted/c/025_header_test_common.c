/* kind: module; line: 3; name: test_common.h; how: absent header of the suite; dir: test/suites/api */
#include "util.h"
#include "test_common.h"
#include <jansson.h>

static void run_tests() {
    json_t *value = json_real(1.5);
    if (json_real_value(value) < 1.4)
        fail("wrong value");
    json_decref(value);
}
