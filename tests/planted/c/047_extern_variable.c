/* kind: member; line: 5; name: hashtable_collisions; how: extern variable of no library, read; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

extern volatile unsigned int hashtable_collisions;

static void run_tests() {
    json_t *object = json_pack("{s:n, s:n}", "a", "b");

    if (hashtable_collisions > 2)
        fail("too many collisions");
    json_decref(object);
}
