/* kind: member; line: 5; name: jansson_init; how: absent function called in a constructor; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

__attribute__((constructor)) static void prepare(void) { jansson_init(); }

static void run_tests() {
    if (!jansson_version_str())
        fail("no version");
}
