/* kind: member; line: 12; name: json_merge_patch; how: dlsym of an absent name; dir: test/suites/api */
#define _GNU_SOURCE
#include "util.h"
#include <dlfcn.h>
#include <jansson.h>

typedef json_t *(*merge_t)(json_t *, json_t *);

static void run_tests() {
    merge_t merge;

    *(void **)&merge = dlsym(RTLD_DEFAULT, "json_merge_patch");
    if (merge) {
        json_t *merged = merge(json_object(), json_object());
        if (json_object_size(merged) != 0)
            fail("merged object is not empty");
        json_decref(merged);
    }
}
