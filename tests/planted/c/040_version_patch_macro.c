/* kind: member; line: 7; name: JANSSON_PATCH_VERSION; how: absent macro in an expression; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    if (jansson_version_cmp(JANSSON_MAJOR_VERSION, JANSSON_MINOR_VERSION,
                            JANSSON_PATCH_VERSION) != 0)
        fail("wrong version");
}
