/* kind: member; line: 9; name: JSON_BOOLEAN; how: absent enum constant in a switch; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static const char *name_of(const json_t *json) {
    switch (json_typeof(json)) {
        case JSON_NULL:
            return "null";
        case JSON_BOOLEAN:
            return "boolean";
        default:
            return "other";
    }
}

static void run_tests() {
    if (name_of(json_null())[0] != 'n' || name_of(json_true())[0] != 'b')
        fail("wrong name");
}
