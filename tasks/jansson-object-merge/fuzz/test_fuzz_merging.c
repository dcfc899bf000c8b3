/*
 * Merges objects that are drawn from TESTWRIGHT_FUZZ_SEED in each of the four ways, every pair twice, and writes
 * INPUT => RESULT for each merge into fuzz.txt of the report directory.
 */

#include "testwright_drawing.h"
#include "util.h"
#include <inttypes.h>
#include <jansson.h>

#define PAIRS 130
#define MOST_KEYS 5
#define SHAPES 8
#define RECURSIVE 3

typedef int (*merge_t)(json_t *, json_t *);

static const struct {
    const char *name;
    merge_t merge;
} ways[] = {
    {"update", json_object_update},
    {"update_existing", json_object_update_existing},
    {"update_missing", json_object_update_missing},
    {"update_recursive", json_object_update_recursive},
};

/* Few of them, so that both objects often have the same ones. */
static const struct {
    const char *text;
    size_t length;
} keys[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"", 0}, {"\xc3\xa9", 2}, {"long key of several words", 25},
            {"a\0b", 3}, {"a\0", 2}};

static json_t *draw_object(int depth);

static json_t *draw_value(int depth) {
    switch (drawn(depth > 0 ? 8 : 5)) {
        case 0:
            return json_null();
        case 1:
            return json_integer(drawn(100));
        case 2:
            return json_string(drawn(2) ? "text" : "");
        case 3:
            return json_boolean(drawn(2));
        case 4:
            return json_pack("[i]", (int)drawn(10));
        default:
            return draw_object(depth - 1);
    }
}

static json_t *draw_object(int depth) {
    json_t *object = json_object();
    unsigned int left = drawn(MOST_KEYS + 1);

    while (left--) {
        unsigned int key = drawn(sizeof(keys) / sizeof(keys[0]));

        json_object_setn_new_nocheck(object, keys[key].text, keys[key].length, draw_value(depth));
    }
    return object;
}

static void write_value(const char *before, const json_t *value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    fprintf(calls, "%s%s", before, text ? text : "(cannot be written)");
    free(text);
}

/* The same state makes the same pair. What is merged may be no object, be the target itself, or lie within it. */
static void draw_pair(json_t **target, json_t **other) {
    unsigned int shape = drawn(3 * SHAPES);

    *target = draw_object(3);
    *other = draw_object(3);
    if (shape == 0 || shape == 1) {
        json_t **odd = shape ? target : other;

        json_decref(*odd);
        *odd = drawn(2) ? draw_value(0) : NULL;
    } else if (shape == 2) {
        json_decref(*other);
        *other = json_incref(*target);
    } else if (shape == 3) {
        json_object_set_new(*target, "a", draw_object(1));
        json_object_set_new(*other, "a", json_incref(json_object_get(*target, "a")));
    } else if (shape == 4) {
        json_object_set_new(*target, "a", json_pack("{s:{}}", "a"));
        json_object_set(*other, "c", *target);
        json_object_set(*other, "b", json_object_get(*target, "a"));
    }
}

/* An object that contains itself, below a key that the target has as well. */
static void draw_endless(json_t **target, json_t **other) {
    json_t *inner = draw_object(0);

    *target = draw_object(2);
    *other = draw_object(2);
    json_object_set_new(*target, "a", json_pack("{s:{s:{s:{}}}}", "b", "a", "b"));
    json_object_set(*other, "a", inner);
    json_object_set_new(inner, "b", json_pack("{s:O}", "a", inner));
    json_decref(inner);
}

static void call(void) {
    unsigned int way = drawn(sizeof(ways) / sizeof(ways[0]));
    int endless = way == RECURSIVE && drawn(3) == 0;
    uint64_t from = drawing_state;
    json_t *target, *other;
    int merged;

    if (endless)
        draw_endless(&target, &other);
    else
        draw_pair(&target, &other);
    fprintf(calls, "%s", ways[way].name);
    write_value(" ", target);
    write_value(" ", other);
    if (endless)
        fprintf(calls, " %" PRIx64, from);
    fflush(calls);
    merged = ways[way].merge(target, other);
    fprintf(calls, " => %d", merged);
    write_value(" ", target);
    fprintf(calls, " of %zu", json_object_size(target));
    write_value(", from ", other);
    fputc('\n', calls);
    fflush(calls);
    if (endless)
        json_object_clear(json_object_get(json_object_get(other, "a"), "b"));
    json_decref(target);
    json_decref(other);
}

static void run_tests() {
    if (write_drawn_calls(PAIRS, call))
        fail("cannot write fuzz.txt");
}
