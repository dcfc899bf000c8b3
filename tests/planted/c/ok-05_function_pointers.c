/* kind: none; line: 0; name: -; how: function pointers in members, and members called; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static const struct way {
    const char *name;
    int (*json_object_merge)(json_t *, json_t *);
    size_t expected;
} ways[] = {
    {"all", json_object_update, 2},
    {"existing", json_object_update_existing, 1},
    {.name = "new", .json_object_merge = json_object_update_missing_new, .expected = 2},
};

static void run_tests() {
    const struct way *way;

    for (way = ways; way != ways + 3; way++) {
        json_t *a = json_pack("{s:i}", "a", 1), *b = json_pack("{s:i}", "b", 2);
        if (way->json_object_merge(a, b) || json_object_size(a) != way->expected)
            fail(way->name);
        json_decref(a);
    }
}
