/*
 * Compares documents that are drawn from TESTWRIGHT_FUZZ_SEED with others that differ from them in one place or in
 * none, copies them in both ways and changes the copies, each twice, and writes INPUT => RESULT for each into fuzz.txt
 * of the report directory.
 */

#include "testwright_drawing.h"
#include "util.h"
#include <jansson.h>
#include <string.h>

#define CALLS 260
#define MOST_PARTS 4
#define OTHERS 6

static const char *const texts[] = {"", "a", "ab", "abc", "\xc3\xa9", "text of several words", "a\0b"};
static const size_t lengths[] = {0, 1, 2, 3, 2, 21, 3};
static const json_int_t numbers[] = {0, 1, -1, 2, 4294967297, 9007199254740993, 9007199254740992};
static const double reals[] = {0.0, -0.0, 1.0, -1.0, 0.1, 1e300, 9007199254740992.0};

/* How many values are drawn until one is drawn otherwise, and in which way; negative: none. */
static int until_change;
static unsigned int change;

static json_t *draw_value(int depth);

static json_t *draw_array(int depth, int changed) {
    json_t *array = json_array();
    unsigned int left = drawn(MOST_PARTS + 1);

    while (left--)
        json_array_append_new(array, draw_value(depth - 1));
    if (changed && change == 0)
        json_array_remove(array, json_array_size(array) - 1);
    else if (changed && change == 1 && json_array_size(array) > 1) {
        json_array_append(array, json_array_get(array, 0));
        json_array_remove(array, 0);
    } else if (changed)
        json_array_append_new(array, json_null());
    return array;
}

static json_t *draw_object(int depth, int changed) {
    json_t *object = json_object(), *first;
    unsigned int left = drawn(MOST_PARTS + 1);

    while (left--) {
        unsigned int key = drawn(sizeof(texts) / sizeof(texts[0]));

        json_object_setn_new_nocheck(object, texts[key], lengths[key], draw_value(depth - 1));
    }
    first = json_object_iter_value(json_object_iter(object));
    if (changed && change == 0 && first)
        json_object_del(object, json_object_iter_key(json_object_iter(object)));
    else if (changed && change == 1 && first) {
        char *key = strdup(json_object_iter_key(json_object_iter(object)));

        json_incref(first);
        json_object_del(object, key);
        json_object_set_new_nocheck(object, key, first);
        free(key);
    } else if (changed)
        json_object_set_new_nocheck(object, "z", json_null());
    return object;
}

static json_t *draw_value(int depth) {
    int changed = until_change-- == 0;
    unsigned int kind = drawn(depth > 0 ? 12 : 6), of = drawn(sizeof(texts) / sizeof(texts[0]));

    switch (kind) {
        case 0:
            return changed ? json_false() : json_null();
        case 1:
            return json_boolean(drawn(2) != (unsigned int)changed);
        case 2:
            return changed && change == 0 ? json_real((double)numbers[of]) : json_integer(numbers[of] + changed);
        case 3:
            return changed && change == 0 ? json_integer(1) : json_real(reals[of] + changed);
        case 4:
        case 5:
            return json_stringn_nocheck(texts[of], lengths[of] - (changed && lengths[of] > 0));
        case 6:
        case 7:
        case 8:
            return draw_array(depth, changed);
        default:
            return draw_object(depth, changed);
    }
}

static void write_value(const char *before, const json_t *value) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    fprintf(calls, "%s%s", before, text ? text : value ? "(cannot be written)" : "(nothing)");
    free(text);
}

static void compare(void) {
    json_t *document, *other[OTHERS];
    unsigned int ways = drawn(1000), i;
    uint64_t from = drawing_state;

    until_change = -1;
    document = draw_value(4);
    for (i = 0; i < OTHERS; i++) {
        drawing_state = from;
        until_change = i < 2 ? (int)i - 1 : (int)(ways % (8 * i));
        change = i % 3;
        other[i] = draw_value(4);
    }
    write_value("compare ", document);
    for (i = 0; i < OTHERS; i++)
        write_value(" ", other[i]);
    fflush(calls);
    fprintf(calls, " => ");
    for (i = 0; i < OTHERS; i++)
        fprintf(calls, "%d%d", json_equal(document, other[i]), json_equal(other[i], document));
    fprintf(calls, " %d%d%d%d\n", json_equal(document, document), json_equal(document, NULL), json_equal(NULL, document),
            json_equal(NULL, NULL));
    fflush(calls);
    for (i = 0; i < OTHERS; i++)
        json_decref(other[i]);
    json_decref(document);
}

/* Nested parts most often; also one that stands in two places, one that contains itself, a lone value, or nothing. */
static json_t *draw_document(json_t **cut) {
    unsigned int shape = drawn(16);
    json_t *document = NULL, *shared;

    *cut = NULL;
    until_change = -1;
    if (shape == 0) {
        document = json_pack("{s:i, s:[i]}", "z", 1, "in", 1);
        *cut = json_object_get(document, "in");
        json_array_append(*cut, document);
    } else if (shape == 1) {
        document = json_pack("[i, {s:{}}]", 1, "down");
        *cut = json_object_get(json_array_get(document, 1), "down");
        json_object_set(*cut, "up", json_array_get(document, 1));
    } else if (shape == 2) {
        document = draw_value(0);
    } else if (shape > 3) {
        document = json_pack("{s:o, s:[o], s:i, s:o}", "z", draw_value(3), "b", draw_value(3), "a", 1, "c", draw_value(2));
        if (shape < 8) {
            shared = draw_array(2, 0);
            json_array_append(json_object_get(document, "b"), shared);
            json_array_insert_new(json_object_get(document, "b"), 0, json_pack("{s:O}", "x", shared));
            json_object_set_new(document, "y", shared);
        }
        if (shape % 3 == 0) {
            json_t *parts = json_pack("[o, i]", document, 7);

            document = parts;
        }
    }
    return document;
}

/* Which values of two are the same ones, level by level. */
static void write_shared(json_t *mine, json_t *theirs, int depth) {
    const char *key;
    json_t *value;
    size_t i;

    fprintf(calls, "%d", mine == theirs);
    if (!mine || !theirs || depth == 0)
        return;
    fprintf(calls, "(");
    if (json_is_array(mine) && json_is_array(theirs))
        json_array_foreach(mine, i, value) write_shared(value, json_array_get(theirs, i), depth - 1);
    else if (json_is_object(mine) && json_is_object(theirs))
        json_object_foreach(mine, key, value) write_shared(value, json_object_get(theirs, key), depth - 1);
    fprintf(calls, ")");
}

/* Changes the first list or object this far down, as a program would do that has been given the copy. */
static void change_below(json_t *value, int depth) {
    json_t *part;
    size_t i;
    const char *key;

    if (depth > 0 && json_is_array(value))
        json_array_foreach(value, i, part) change_below(part, depth - 1);
    else if (depth > 0 && json_is_object(value))
        json_object_foreach(value, key, part) change_below(part, depth - 1);
    else if (json_is_array(value))
        json_array_append_new(value, json_string("added"));
    else if (json_is_object(value))
        json_object_set_new(value, "added", json_true());
    else if (json_is_string(value))
        json_string_set(value, "set");
    else if (json_is_integer(value))
        json_integer_set(value, 77);
}

static void copy(int deep) {
    json_t *cut, *document = draw_document(&cut), *made;
    unsigned int depth = drawn(4);

    fprintf(calls, "%s copy, changed %u below, of ", deep ? "deep" : "plain", depth);
    write_value("", document);
    if (cut)
        fprintf(calls, " %d", json_is_array(cut));
    fflush(calls);
    made = deep ? json_deep_copy(document) : json_copy(document);
    write_value(" => ", made);
    fprintf(calls, " %d, refcounts %d %d, shared ", made ? (int)json_typeof(made) : -1, made ? (int)made->refcount : -1,
            document ? (int)document->refcount : -1);
    write_shared(made, document, 4);
    change_below(made, (int)depth);
    write_value(", changed ", made);
    write_value(" beside ", document);
    if (!deep && json_is_object(document) && !cut) {
        json_object_set_new(document, "late", json_integer(1));
        write_value(", then ", made);
    }
    fputc('\n', calls);
    fflush(calls);
    if (json_is_array(cut))
        json_array_clear(cut);
    else if (cut)
        json_object_clear(cut);
    json_decref(made);
    json_decref(document);
}

static void call(void) {
    unsigned int kind = drawn(3);

    if (kind == 0)
        compare();
    else
        copy(kind == 2);
}

static void run_tests() {
    if (write_drawn_calls(CALLS, call))
        fail("cannot write fuzz.txt");
}
