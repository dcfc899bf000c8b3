/* kind: member; line: 5; name: json_array_reverse; how: weak symbol by a pragma; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

#pragma weak json_array_reverse
int json_array_reverse(json_t *array);

static void run_tests() {
    json_t *array = json_pack("[i, i]", 1, 2);

    if (&json_array_reverse != NULL && json_array_reverse(array) == 0 &&
        json_integer_value(json_array_get(array, 0)) != 2)
        fail("not reversed");
    json_decref(array);
}
