/* kind: module; line: 2; name: jansson_ext.h; how: absent header named by a macro; dir: test/suites/api */
#define EXTRA_HEADER "jansson_ext.h"
#include "util.h"
#include EXTRA_HEADER
#include <jansson.h>

static void run_tests() {
    if (json_is_true(json_false()))
        fail("false is true");
}
