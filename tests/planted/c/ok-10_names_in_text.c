/* kind: none; line: 0; name: -; how: absent names in comments, strings and left out parts only; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

/* Other libraries have json_object_has_key() and JSON_PRETTY; see <jansson/util.h>. */
static const char *const text = "json_object_keys(json->value.integer)"
                                "#include <jansson_ext.h>";

// json_array_sort(array, NULL);
static void run_tests() {
    json_t *json = json_sprintf("%s JSON_BOOLEAN", text);

    if (!strstr(json_string_value(json), "json_object_keys"))
        fail("wrong text");
    json_decref(json);
}
