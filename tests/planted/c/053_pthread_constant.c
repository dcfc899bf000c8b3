/* kind: member; line: 14; name: PTHREAD_CREATE_ATTACHED; how: absent constant of a system header; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <pthread.h>

static void *work(void *json) { return json_incref(json); }

static void run_tests() {
    pthread_attr_t attr;
    pthread_t thread;
    json_t *json = json_array();

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_ATTACHED);
    if (pthread_create(&thread, &attr, work, json) || pthread_join(thread, NULL))
        fail("thread");
    if (json->refcount != 2)
        fail("wrong count");
}
