/* kind: member; line: 6; name: json_object_count; how: #define of an own name as an absent function; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

#define array_len  json_array_size
#define object_len json_object_count

static void run_tests() {
    json_t *array = json_pack("[n]"), *object = json_pack("{s:n}", "a");

    if (array_len(array) != 1 || object_len(object) != 1)
        fail("wrong size");
    json_decref(array);
    json_decref(object);
}
