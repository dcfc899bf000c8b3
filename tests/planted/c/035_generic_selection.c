/* kind: member; line: 5; name: json_text; how: absent function in a branch of _Generic; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

#define make(x) _Generic((x), int: json_integer, double: json_real, char *: json_text)(x)

static void run_tests() {
    json_t *i = make(1), *r = make(1.5);

    if (!json_is_integer(i) || !json_is_real(r))
        fail("wrong type");
    json_decref(i);
    json_decref(r);
}
