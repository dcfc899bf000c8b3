/* kind: none; line: 0; name: -; how: extern declarations of what jansson and libc really have; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

extern void *jsonp_malloc(size_t size);
extern void jsonp_free(void *ptr);
extern volatile unsigned int hashtable_seed;
extern char **environ;
extern int utf8_check_string(const char *string, size_t length);

static void run_tests() {
    char *buffer = jsonp_malloc(4);

    json_object_seed(7);
    if (!buffer || !hashtable_seed || !environ || !utf8_check_string("abc", 3))
        fail("missing");
    jsonp_free(buffer);
}
