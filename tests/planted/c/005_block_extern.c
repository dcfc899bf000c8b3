/* kind: member; line: 9; name: json_array_sort; how: extern declaration within a block; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *array = json_pack("[i, i, i]", 3, 1, 2);

    {
        extern int json_array_sort(json_t *, int (*)(const json_t *, const json_t *));
        if (json_array_sort(array, NULL) == 0)
            fail("sorted without a function");
    }
    json_decref(array);
}
