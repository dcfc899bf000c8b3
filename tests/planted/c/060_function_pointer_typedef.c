/* kind: member; line: 14; name: json_write_callback_t; how: absent callback typedef in a cast; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

static int count(const char *buffer, size_t size, void *data) {
    (void)buffer;
    *(size_t *)data += size;
    return 0;
}

static void run_tests() {
    size_t n = 0;

    if (json_dump_callback(json_true(), (json_write_callback_t)count, &n, JSON_ENCODE_ANY))
        fail("dump failed");
    if (n != 4)
        fail("wrong length");
}
