/* kind: member; line: 5; name: json_count_nodes; how: absent function with a prototype, in a static inline helper nobody calls; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

extern size_t json_count_nodes(const json_t *json);

static inline void check_count(const json_t *json, size_t n) {
    if (json_count_nodes(json) != n)
        fail("wrong number of nodes");
}

static void run_tests() {
    json_t *json = json_pack("[[]]");

    if (json_array_size(json) != 1)
        fail("wrong size");
    json_decref(json);
}
