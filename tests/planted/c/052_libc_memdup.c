/* kind: member; line: 7; name: memdup; how: function that libc does not have; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

static void run_tests() {
    char *copy = (char *)(size_t)memdup("[1]\0", 4);
    json_t *json = json_loadb(copy, 3, 0, NULL);

    if (!json)
        fail("not loaded");
    json_decref(json);
    free(copy);
}
