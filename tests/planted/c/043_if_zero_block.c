/* kind: member; line: 12; name: json_array_push; how: absent function in code left out by a true feature macro's #else; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void run_tests() {
    json_t *a = json_array();

#if JANSSON_VERSION_HEX >= 0x020500
    if (json_array_append_new(a, json_null()))
        fail("append");
#else
    if (json_array_push(a, json_null()))
        fail("push");
#endif
    json_decref(a);
}
