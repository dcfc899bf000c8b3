/* kind: member; line: 5; name: json_null_singleton; how: extern object of no library, in sizeof only; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

extern json_t json_null_singleton;

static void run_tests() {
    if (sizeof(json_null_singleton) != sizeof(*json_null()))
        fail("wrong size");
}
