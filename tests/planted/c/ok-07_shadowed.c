/* kind: none; line: 0; name: -; how: parameters, labels and members named as functions or types; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

struct json_loader {
    json_t *json_array;
    int message;
};

static size_t size_of(json_t *json_array) {
    struct json_loader loader = {json_array, 1};
    int offset = loader.message;

    if (offset)
        goto json_object_count;
    return 0;
json_object_count:
    return json_array_size(loader.json_array);
}

static void run_tests() {
    json_t *json = json_pack("[n, n, n]");

    if (size_of(json) != 3)
        fail("wrong size");
    json_decref(json);
}
