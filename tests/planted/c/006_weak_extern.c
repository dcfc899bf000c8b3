/* kind: member; line: 5; name: json_object_rename; how: weak symbol that is tested for NULL; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

__attribute__((weak)) extern int json_object_rename(json_t *, const char *, const char *);

static void run_tests() {
    json_t *object = json_pack("{s:i}", "old", 1);

    if (json_object_rename) {
        if (json_object_rename(object, "old", "new"))
            fail("renaming failed");
        if (!json_object_get(object, "new"))
            fail("renamed key not found");
    }
    json_decref(object);
}
