/* kind: member; line: 7; name: jsonp_realloc; how: internal function of a newer jansson, declared by hand; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

void *jsonp_malloc(size_t size);
void *jsonp_realloc(void *ptr, size_t original, size_t size);
void jsonp_free(void *ptr);

static void run_tests() {
    char *buffer = jsonp_malloc(4);

    memcpy(buffer, "foo", 4);
    buffer = jsonp_realloc(buffer, 4, 400);
    if (!buffer || strcmp(buffer, "foo"))
        fail("contents lost");
    jsonp_free(buffer);
}
