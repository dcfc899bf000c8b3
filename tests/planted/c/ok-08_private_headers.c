/* kind: none; line: 0; name: -; how: private headers of the library, whose types and members are real; dir: test/suites/api */
#include "jansson_private.h"
#include "utf.h"
#include "util.h"

static void run_tests() {
    json_t *array = json_pack("[i, i]", 1, 2);
    strbuffer_t buffer;
    size_t n;
    char out[4];

    if (json_to_array(array)->entries != 2 || json_to_array(array)->size < 2)
        fail("wrong layout");
    if (strbuffer_init(&buffer) || strbuffer_append_bytes(&buffer, "ab", 2) ||
        strbuffer_pop(&buffer) != 'b')
        fail("wrong buffer");
    if (utf8_encode(0xe4, out, &n) || n != 2 || JSON_PARSER_MAX_DEPTH != 2048)
        fail("wrong length");
    strbuffer_close(&buffer);
    json_decref(array);
}
