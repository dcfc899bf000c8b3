/* kind: member; line: 12; name: json_error_invalid_byte; how: absent constant of enum json_error_code as a macro's argument; dir: test/suites/api */
#include "util.h"
#include <jansson.h>
#include <string.h>

static void run_tests() {
    const char *text = "unable to decode byte 0xff";
    json_error_t error;

    if (json_loads("\xff", 0, &error))
        fail("loaded");
    check_error(json_error_invalid_byte, text, "<string>", 1, 0, 0);
}
