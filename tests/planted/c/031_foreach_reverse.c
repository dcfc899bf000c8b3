/* kind: member; line: 10; name: json_array_foreach_reverse; how: absent iteration macro; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *array = json_pack("[i, i]", 0, 1), *value;
    size_t i, n = 0;

    json_array_foreach(array, i, value) n++;
    json_array_foreach_reverse(array, i, value) {
        n--;
    }
    if (n != 0)
        fail("wrong count");
    json_decref(array);
}
