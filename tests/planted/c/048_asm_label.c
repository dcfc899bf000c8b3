/* kind: member; line: 5; name: json_array_length; how: absent symbol as the assembler name of an own declaration; dir: test/suites/api */
#include "util.h"
#include <jansson.h>

size_t length_of(const json_t *json) __asm__("json_array_length");

static void run_tests() {
    json_t *array = json_array();

    if (length_of(array) != 0)
        fail("not empty");
    json_decref(array);
}
