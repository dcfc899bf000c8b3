/* kind: module; line: 3; name: jansson/util.h; how: absent header in the library's folder; dir: test/suites/api */
#include "util.h"
#include <jansson/util.h>
#include <jansson.h>

static void run_tests() {
    if (!json_is_null(json_null()))
        fail("not null");
}
