/*
 * Takes values out of documents by formats, both drawn from TESTWRIGHT_FUZZ_SEED so that most fit each other, every
 * one twice, and writes INPUT => RESULT for each into fuzz.txt of the report directory.
 */

#include "testwright_drawing.h"
#include "util.h"
#include <jansson.h>
#include <string.h>

#define CALLS 400
#define MOST_PARTS 4
#define DEEPEST 3
#define MOST_TARGETS 256
#define ROOM 64

/*
 * What is handed in: a key to read, or a variable of some kind. All are pointers, so only their number and order matter.
 * None holds an address before its turn: a spoilt format may have it read as a key.
 */
struct target {
    char kind;
    union {
        char key[ROOM];
        const char *text;
        size_t length;
        int number;
        json_int_t wide;
        double real;
        json_t *json;
    } it;
};

static const char *const keys[] = {"a", "b", "name", "caf\xc3\xa9", "", "list", "a longer key of some words"};
static const char *const texts[] = {"", "plain", "caf\xc3\xa9 \xf0\x9f\x98\x80", "17", "null"};
static const char *const gaps[] = {"", "", ",", " ", ", ", "\n", " :\t"};
static const char wrong[] = "z!*]}[?:q";

static char format[16384];
static size_t used;
static struct target targets[MOST_TARGETS];
static int count;
static int only_checks;

static void add(const char *text) {
    size_t length = strlen(text);

    memcpy(format + used, text, length + 1);
    used += length;
}

static struct target *add_target(char kind) {
    struct target *target = &targets[count];

    if (count < MOST_TARGETS - 1)
        count++;
    memset(target, 0, sizeof(*target));
    target->kind = kind;
    return target;
}

/* A variable, which is handed in only where values are taken out, as it is before. */
static void add_variable(char kind) {
    struct target *target;

    if (only_checks)
        return;
    target = add_target(kind);
    switch (kind) {
        case 's':
            target->it.text = NULL;
            break;
        case '%':
            target->it.length = 12345;
            break;
        case 'i':
        case 'b':
            target->it.number = -77;
            break;
        case 'I':
            target->it.wide = -7777777777;
            break;
        case 'f':
        case 'F':
            target->it.real = -7.75;
            break;
        default:
            target->it.json = NULL;
            break;
    }
}

static json_t *draw_single(char kind) {
    switch (kind) {
        case 'n':
            return json_null();
        case 'b':
            return json_boolean(drawn(2));
        case 'i':
            return json_integer((json_int_t)drawn(2000) - 1000);
        case 'I':
            return json_integer(((json_int_t)drawn(2000000) - 1000000) * 4294967311);
        case 'f':
            return json_real((drawn(2000000) - 1000000.0) / 8);
        case 'F':
            return drawn(2) ? draw_single('i') : draw_single('f');
        case 's':
            return drawn(6) ? json_string(texts[drawn(sizeof(texts) / sizeof(texts[0]))]) : json_stringn("a\0b", 3);
        default:
            return drawn(2) ? json_pack("[i]", drawn(9)) : json_pack("{s:i}", "in", drawn(9));
    }
}

static void add_single(char kind) {
    char text[2] = {kind, '\0'};

    add(text);
    if (kind != 'n')
        add_variable(kind);
    if (kind == 's' && drawn(only_checks ? 40 : 4) == 0) {
        add("%");
        add_variable('%');
    }
}

static json_t *draw_value(int depth);

static void draw_mark() {
    unsigned int shape = drawn(12);

    add(gaps[drawn(sizeof(gaps) / sizeof(gaps[0]))]);
    if (shape < 3)
        add("!");
    else if (shape < 5)
        add("*");
}

static json_t *draw_array(int depth) {
    json_t *array = json_array();
    unsigned int left = drawn(MOST_PARTS + 1), shape = drawn(24);

    add("[");
    while (left--) {
        json_array_append_new(array, draw_value(depth - 1));
        add(gaps[drawn(sizeof(gaps) / sizeof(gaps[0]))]);
    }
    draw_mark();
    add("]");
    if (shape < 4)
        json_array_append_new(array, json_integer(shape));
    if (shape == 4 && json_array_size(array))
        json_array_remove(array, json_array_size(array) - 1);
    return array;
}

static json_t *draw_object(int depth) {
    json_t *object = json_object();
    unsigned int left = drawn(MOST_PARTS + 1), shape = drawn(16);

    add("{");
    while (left--) {
        const char *key = keys[drawn(sizeof(keys) / sizeof(keys[0]))];
        unsigned int presence = drawn(12);
        json_t *value;

        strcpy(add_target('k')->it.key, key);
        add(presence < 5 ? "s?" : "s");
        add(gaps[drawn(sizeof(gaps) / sizeof(gaps[0]))]);
        value = draw_value(depth - 1);
        if (presence > 2 && (presence > 6 || presence < 5 || drawn(4)))
            json_object_set_new(object, key, value);
        else
            json_decref(value);
        add(gaps[drawn(sizeof(gaps) / sizeof(gaps[0]))]);
    }
    draw_mark();
    add("}");
    if (shape < 3)
        json_object_set_new(object, "more", json_null());
    if (shape == 0)
        json_object_set_new(object, "most", json_array());
    return object;
}

/* Adds to the format, and makes a value that fits it most often. */
static json_t *draw_value(int depth) {
    static const char kinds[] = "sssiiIbfFnoO";
    char kind = kinds[drawn(sizeof(kinds) - 1)];

    if (depth > 0 && count < MOST_TARGETS / 2 && used < sizeof(format) / 4) {
        json_t *value = NULL;
        unsigned int shape = drawn(5);

        if (shape < 2)
            value = draw_object(depth);
        else if (shape < 3)
            value = draw_array(depth);
        if (value && drawn(30) == 0) {
            json_decref(value);
            return draw_single(kind);
        }
        if (value)
            return value;
    }
    add_single(kind);
    return draw_single(drawn(20) ? kind : kinds[drawn(sizeof(kinds) - 1)]);
}

static void spoil_format() {
    unsigned int at = drawn((unsigned int)used + 1);

    if (drawn(2)) {
        format[at] = '\0';
    } else {
        memmove(format + at + 1, format + at, used - at + 1);
        format[at] = wrong[drawn(sizeof(wrong) - 1)];
    }
}

/* On one line, whatever it holds. */
static void write_text(const char *bytes, size_t length) {
    size_t i;

    for (i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (byte < 0x20 || byte > 0x7e || byte == '\\')
            fprintf(calls, "\\x%02x", byte);
        else
            fputc(byte, calls);
    }
}

static void write_json(const json_t *json) {
    char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    fputs(text ? text : "-", calls);
    free(text);
}

static void write_variable(const struct target *target) {
    switch (target->kind) {
        case 's':
            fprintf(calls, " s:");
            if (target->it.text)
                write_text(target->it.text, strlen(target->it.text));
            break;
        case '%':
            fprintf(calls, " %%:%zu", target->it.length);
            break;
        case 'i':
        case 'b':
            fprintf(calls, " %c:%d", target->kind, target->it.number);
            break;
        case 'I':
            fprintf(calls, " I:%" JSON_INTEGER_FORMAT, target->it.wide);
            break;
        case 'f':
        case 'F':
            fprintf(calls, " %c:%.17g", target->kind, target->it.real);
            break;
        case 'o':
        case 'O':
            fprintf(calls, " %c:", target->kind);
            if (target->it.json)
                write_json(target->it.json);
            break;
        default:
            break;
    }
}

static void give_back() {
    int i;

    for (i = 0; i < count; i++) {
        if (targets[i].kind == 'O')
            json_decref(targets[i].it.json);
    }
}

/* How many references the document's parts have, all in all. */
static size_t references(json_t *json) {
    size_t sum = json->refcount == (size_t)-1 ? 0 : json->refcount, i;
    const char *key;
    json_t *value;

    json_array_foreach(json, i, value) sum += references(value);
    json_object_foreach(json, key, value) sum += references(value);
    return sum;
}

static int take_out(json_t *json, json_error_t *error, size_t flags) {
    struct target *t = targets;
#define T8(n)                                                                            \
    &t[n].it, &t[n + 1].it, &t[n + 2].it, &t[n + 3].it, &t[n + 4].it, &t[n + 5].it,      \
        &t[n + 6].it, &t[n + 7].it
#define T64(n)                                                                           \
    T8(n), T8(n + 8), T8(n + 16), T8(n + 24), T8(n + 32), T8(n + 40), T8(n + 48), T8(n + 56)

    return json_unpack_ex(json, error, flags, format, T64(0), T64(64), T64(128), T64(192));
}

static void call(void) {
    static const size_t ways[] = {0, 0, 0, JSON_STRICT, JSON_VALIDATE_ONLY, JSON_STRICT | JSON_VALIDATE_ONLY};
    json_error_t error;
    json_t *json;
    size_t flags, before;
    int i, taken, spoilt;

    flags = ways[drawn(sizeof(ways) / sizeof(ways[0]))];
    only_checks = (flags & JSON_VALIDATE_ONLY) != 0;
    used = 0;
    count = 0;
    format[0] = '\0';
    json = drawn(12) ? drawn(2) ? draw_object(DEEPEST) : draw_array(DEEPEST) : draw_value(0);
    spoilt = drawn(8) == 0;
    if (spoilt)
        spoil_format();

    fprintf(calls, "%d ", (int)flags);
    write_text(format, strlen(format));
    fputc(' ', calls);
    write_json(json);
    for (i = 0; i < count; i++) {
        if (targets[i].kind == 'k') {
            fprintf(calls, " k:");
            write_text(targets[i].it.key, strlen(targets[i].it.key));
        }
    }

    before = references(json);
    memset(&error, 0, sizeof(error));
    taken = take_out(json, &error, flags);
    fprintf(calls, " => %d", taken);
    for (i = 0; i < count; i++)
        write_variable(&targets[i]);
    fprintf(calls, " +%zu", references(json) - before);
    fprintf(calls, " %d:%d:%d %d ", error.line, error.column, error.position, json_error_code(&error));
    write_text(error.source, strlen(error.source));
    fputc(' ', calls);
    write_text(error.text, strlen(error.text));
    fputc('\n', calls);
    give_back();
    json_decref(json);
}

static void run_tests() {
    if (write_drawn_calls(CALLS, call))
        fail("cannot write fuzz.txt");
}
