/* kind: member; line: 10; name: hashtable_resize; how: absent function beside real ones of a private header; dir: test/suites/api */
#include "hashtable.h"
#include "util.h"

static void run_tests() {
    hashtable_t table;

    if (hashtable_init(&table))
        fail("init");
    if (hashtable_resize(&table, 5))
        fail("resize");
    hashtable_close(&table);
}
