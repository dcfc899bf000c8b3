/* kind: none; line: 0; name: -; how: static helpers declared before their definitions; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static void check_len(json_t *array, size_t n);
static struct pair *make_pair(int a, int b);

struct pair {
    int a, b;
};

static void run_tests() {
    struct pair *pair = make_pair(1, 2);
    json_t *array = json_pack("[i, i]", pair->a, pair->b);

    check_len(array, 2);
    json_decref(array);
    free(pair);
}

static struct pair *make_pair(int a, int b) {
    struct pair *pair = malloc(sizeof(*pair));
    pair->a = a;
    pair->b = b;
    return pair;
}

static void check_len(json_t *array, size_t n) {
    if (json_array_size(array) != n)
        fail("wrong size");
}
