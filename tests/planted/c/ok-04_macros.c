/* kind: none; line: 0; name: -; how: own macros: token pasting, stringification, X macros; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

#define TYPES(X) X(object) X(array) X(true) X(null)
#define ENUM(name) kind_##name,
#define CHECK(name)                                                                      \
    do {                                                                                 \
        json_t *json_##name##_made = json_##name();                                      \
        if (!json_is_##name(json_##name##_made) || !strlen(#name))                       \
            fail("wrong type: " #name);                                                  \
        json_decref(json_##name##_made);                                                 \
    } while (0);

enum kinds { TYPES(ENUM) kind_count };

static void run_tests() {
    TYPES(CHECK)
    if (kind_count != 4 || kind_null != 3)
        fail("wrong count");
}
