/* kind: member; line: 12; name: JSON_ALLOW_TRAILING_COMMA; how: absent constant in a table of cases; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static const struct {
    const char *input;
    size_t flags;
    int valid;
} cases[] = {
    {"[1]", 0, 1},
    {"1", JSON_DECODE_ANY, 1},
    {"[1,]", JSON_ALLOW_TRAILING_COMMA, 1},
    {"[1] x", JSON_DISABLE_EOF_CHECK, 1},
};

static void run_tests() {
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *json = json_loads(cases[i].input, cases[i].flags, NULL);
        if (!json != !cases[i].valid)
            fail(cases[i].input);
        json_decref(json);
    }
}
