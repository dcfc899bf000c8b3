/* kind: member; line: 10; name: strlcpy; how: function that this libc has not yet; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

static void run_tests() {
    char buffer[8];
    json_t *json = json_string("long enough");

    if (strlcpy(buffer, json_string_value(json), sizeof(buffer)) != 11)
        fail("wrong length");
    json_decref(json);
}
