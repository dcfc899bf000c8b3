/* kind: member; line: 10; name: capacity; how: absent member of a private struct; dir: test/suites/api */
#include "strbuffer.h"
#include "util.h"

static void run_tests() {
    strbuffer_t buffer;

    if (strbuffer_init(&buffer) || strbuffer_append_byte(&buffer, 'x'))
        fail("append");
    if (buffer.length != 1 || buffer.capacity < 2)
        fail("wrong size");
    strbuffer_close(&buffer);
}
