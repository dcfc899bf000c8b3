/* kind: none; line: 0; name: -; how: own functions with names that jansson lacks; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static int json_object_has_key(json_t *object, const char *key) {
    return json_object_get(object, key) != NULL;
}

static json_t *json_object_keys(json_t *object) {
    json_t *keys = json_array(), *value;
    const char *key;

    json_object_foreach(object, key, value) json_array_append_new(keys, json_string(key));
    return keys;
}

static void run_tests() {
    json_t *object = json_pack("{s:i}", "a", 1), *keys = json_object_keys(object);

    if (!json_object_has_key(object, "a") || json_array_size(keys) != 1)
        fail("wrong keys");
    json_decref(keys);
    json_decref(object);
}
