/* kind: member; line: 6; name: json_path_get; how: weak reference to an absent symbol by an attribute; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static json_t *path_get(const json_t *, const char *)
    __attribute__((weakref("json_path_get")));

static void run_tests() {
    json_t *json = json_pack("{s:{s:i}}", "a", "b", 1);

    if (path_get && json_integer_value(path_get(json, "a.b")) != 1)
        fail("wrong value");
    json_decref(json);
}
