/* kind: member; line: 7; name: json_array_contains; how: absent function used in a macro's body; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

#define check_contains(array, value)                                                     \
    do {                                                                                 \
        if (!json_array_contains(array, value))                                          \
            fail("value not in array");                                                  \
    } while (0)

static void run_tests() {
    json_t *array = json_pack("[i, i]", 1, 2);
    json_t *one = json_integer(1);

    check_contains(array, one);
    json_decref(one);
    json_decref(array);
}
