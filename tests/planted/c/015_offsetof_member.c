/* kind: member; line: 6; name: flags; how: absent member in offsetof; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <stddef.h>

enum { type_at = offsetof(json_t, type), flags_at = offsetof(json_t, flags) };

static void run_tests() {
    if (type_at >= flags_at)
        fail("wrong layout");
}
