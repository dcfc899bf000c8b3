/* kind: none; line: 0; name: -; how: compound literals, designated initialisers, own types; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

typedef struct {
    size_t flags, end_column;
    const char *message;
} json_dump_options_t;

static size_t length(const json_t *json, const json_dump_options_t *options) {
    char *out = json_dumps(json, options->flags);
    size_t n = 0;

    while (out && out[n])
        n++;
    free(out);
    return n;
}

static void run_tests() {
    json_t *json = json_pack("[i, i]", 1, 2);

    if (length(json, &(json_dump_options_t){.flags = JSON_COMPACT, .message = "m"}) != 5)
        fail("wrong length");
    if (json_integer_value(json_array_get(json, (size_t[]){1, 0}[0])) != 2)
        fail("wrong value");
    json_decref(json);
}
