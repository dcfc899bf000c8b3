/* kind: member; line: 6; name: json_dumps_pretty; how: absent function within __typeof__; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static __typeof__(json_dumps) *dump = json_dumps;
static __typeof__(json_dumps_pretty) *pretty;

static void run_tests() {
    char *out = dump(json_true(), JSON_ENCODE_ANY);

    if (!out || pretty)
        fail("no output");
    free(out);
}
