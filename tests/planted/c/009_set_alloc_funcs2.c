/* kind: member; line: 10; name: json_set_alloc_funcs2; how: function of a newer jansson; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void *my_realloc(void *ptr, size_t size) { return realloc(ptr, size); }

static void run_tests() {
    json_t *value;

    json_set_alloc_funcs2(malloc, my_realloc, free);
    value = json_string("allocated");
    if (!value)
        fail("no string");
    json_decref(value);
}
