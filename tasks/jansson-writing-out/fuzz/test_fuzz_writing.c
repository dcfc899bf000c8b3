/*
 * Writes documents that are drawn from TESTWRIGHT_FUZZ_SEED, with drawn options, to each kind of destination, every
 * one twice, and writes INPUT => RESULT for each into fuzz.txt of the report directory.
 */

#include "testwright_drawing.h"
#include "util.h"
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENTS 130
#define MOST_PARTS 4
#define ROOM 65536

static const char *const texts[] = {"", "plain", "a/b", "\"\\\b\f\n\r\t", "\x01\x1f\x7f", "caf\xc3\xa9",
                                    "\xf0\x9f\x98\x80", "\xe2\x82\xac and \xf4\x8f\xbf\xbf", "Z", "zz"};
static const size_t layouts[] = {0,
                                 JSON_COMPACT,
                                 JSON_INDENT(1),
                                 JSON_INDENT(4),
                                 JSON_INDENT(31),
                                 JSON_INDENT(2) | JSON_COMPACT};
static const size_t options[] = {JSON_SORT_KEYS, JSON_ENSURE_ASCII, JSON_ESCAPE_SLASH, JSON_EMBED,
                                 JSON_ENCODE_ANY};
enum { STRING, BUFFER, SMALL_BUFFER, CALLBACK, GIVES_UP, STREAM, DESCRIPTOR, FILE_THERE, NO_FOLDER, DESTINATIONS };
static const char *const names[] = {"string", "buffer", "small buffer", "callback", "gives up",
                                    "stream", "descriptor", "file", "no folder"};

static const char *draw_text(void) { return texts[drawn(sizeof(texts) / sizeof(texts[0]))]; }

static json_t *draw_value(int depth, json_t *shared) {
    json_t *value;
    unsigned int left = drawn(MOST_PARTS + 1);

    switch (drawn(depth > 0 ? 14 : 9)) {
        case 0:
            return json_null();
        case 1:
            return json_boolean(drawn(2));
        case 2:
            return json_integer((json_int_t)drawn(2000000) * 4294967 - 1000000);
        case 3:
            return json_real((drawn(2000000) - 1000000.0) / (1 + drawn(1000)));
        case 4:
            return json_real(drawn(2) ? 1e300 : 1.0);
        case 5:
        case 6:
            return json_string(draw_text());
        case 7:
            return json_stringn_nocheck("a\0b", 3);
        case 8:
            return json_incref(shared);
        case 9:
        case 10:
            value = json_array();
            while (left--)
                json_array_append_new(value, draw_value(depth - 1, shared));
            return value;
        default:
            value = json_object();
            while (left--)
                json_object_set_new_nocheck(value, draw_text(), draw_value(depth - 1, shared));
            if (drawn(4) == 0)
                json_object_setn_new_nocheck(value, "Z\0y", 3, json_integer(1));
            return value;
    }
}

/* The same state makes the same document: an endless one, broken UTF-8, a lone value, or most often nested parts. */
static json_t *draw_document(json_t **cut) {
    json_t *shared = drawn(2) ? json_pack("[i, {}]", 1) : json_object(), *document = NULL;
    unsigned int shape = drawn(20);

    *cut = NULL;
    if (shape == 0) {
        document = json_pack("{s:[i]}", "in", 1);
        *cut = json_object_get(document, "in");
        json_array_append(*cut, document);
    } else if (shape == 1) {
        document = json_pack("[{}]");
        *cut = json_array_get(document, 0);
        json_object_set(*cut, "out", document);
    } else if (shape == 2) {
        document = json_array();
        json_array_append_new(document, json_stringn_nocheck("ok \xff", 4));
    } else if (shape == 3) {
        document = draw_value(0, shared);
    } else if (shape > 4) {
        document = drawn(2) ? json_array() : json_object();
        for (shape = drawn(MOST_PARTS + 1); shape > 0; shape--) {
            json_t *part = draw_value(4, shared);

            if (json_is_array(document))
                json_array_append_new(document, part);
            else
                json_object_set_new_nocheck(document, draw_text(), part);
        }
    }
    json_decref(shared);
    return document;
}

/* On one line, whatever it holds. */
static void write_bytes(const char *bytes, size_t length) {
    size_t i;

    for (i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (byte < 0x20 || byte > 0x7e || byte == '\\')
            fprintf(calls, "\\x%02x", byte);
        else
            fputc(byte, calls);
    }
}

static void write_stream(FILE *stream) {
    static char text[ROOM];
    size_t length;

    rewind(stream);
    length = fread(text, 1, sizeof(text), stream);
    fprintf(calls, " %zu:", length);
    write_bytes(text, length);
}

struct taker {
    int left, status;
};

static int take(const char *bytes, size_t length, void *data) {
    struct taker *taker = data;

    if (taker->left-- <= 0)
        return taker->status;
    fputc('|', calls);
    write_bytes(bytes, length);
    return 0;
}

static void to_callback(const json_t *document, size_t flags, int left, int status) {
    struct taker taker = {left, status};
    int written = json_dump_callback(document, take, &taker, flags);

    fprintf(calls, " %d, %d left", written, taker.left);
}

static void to_buffer(const json_t *document, size_t flags, size_t size) {
    static char buffer[ROOM];
    size_t needed;

    memset(buffer, '#', sizeof(buffer));
    needed = json_dumpb(document, buffer, size, flags);
    fprintf(calls, " %zu:", needed);
    write_bytes(buffer, size + 2 < needed ? size + 2 : needed + 2);
}

static void to_stream(const json_t *document, size_t flags) {
    FILE *stream = tmpfile();

    fputs("before ", stream);
    fprintf(calls, " %d", json_dumpf(document, stream, flags));
    write_stream(stream);
    fclose(stream);
}

static void to_descriptor(const json_t *document, size_t flags) {
    FILE *stream = tmpfile();

    fprintf(calls, " %d", json_dumpfd(document, fileno(stream), flags));
    write_stream(stream);
    fclose(stream);
    fprintf(calls, ", closed %d", json_dumpfd(document, -1, flags));
}

static void to_file(const json_t *document, size_t flags) {
    const char *const path = "document.json";
    FILE *file = fopen(path, "w");

    fputs("what was there before, and rather long", file);
    fclose(file);
    fprintf(calls, " %d", json_dump_file(document, path, flags));
    file = fopen(path, "r");
    write_stream(file);
    fclose(file);
    remove(path);
}

static void write_out(const json_t *document, size_t flags, unsigned int destination, unsigned int number) {
    char *text;

    switch (destination) {
        case STRING:
            text = json_dumps(document, flags);
            fputs(text ? " text:" : " nothing", calls);
            write_bytes(text ? text : "", text ? strlen(text) : 0);
            free(text);
            break;
        case BUFFER:
            to_buffer(document, flags, ROOM - 2);
            break;
        case SMALL_BUFFER:
            to_buffer(document, flags, number % 40);
            break;
        case CALLBACK:
            to_callback(document, flags, 1000000, 0);
            break;
        case GIVES_UP:
            to_callback(document, flags, (int)(number % 12), number % 2 ? -1 : 7);
            break;
        case STREAM:
            to_stream(document, flags);
            break;
        case DESCRIPTOR:
            to_descriptor(document, flags);
            break;
        case FILE_THERE:
            to_file(document, flags);
            break;
        default:
            fprintf(calls, " %d", json_dump_file(document, "no/such/folder/document.json", flags));
            text = json_dumps(document, flags);
            fprintf(calls, " %zu", text ? strlen(text) : 0);
            write_bytes(text ? text : "", text ? strlen(text) : 0);
            free(text);
    }
}

static size_t draw_flags(void) {
    size_t flags = layouts[drawn(sizeof(layouts) / sizeof(layouts[0]))];
    size_t i;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        flags |= drawn(3) == 0 ? options[i] : 0;
    return drawn(3) ? flags : flags | JSON_REAL_PRECISION(drawn(32));
}

static void call(void) {
    uint64_t from = drawing_state;
    json_t *document, *cut;
    unsigned int destination, number;
    size_t flags;

    flags = draw_flags();
    destination = drawn(DESTINATIONS);
    number = drawn(1000);
    document = draw_document(&cut);
    fprintf(calls, "document %" PRIx64 " with %zx to %s %u => ", from, flags, names[destination], number);
    fflush(calls);
    write_out(document, flags, destination, number);
    fputc('\n', calls);
    fflush(calls);
    if (json_is_array(cut))
        json_array_clear(cut);
    else if (cut)
        json_object_clear(cut);
    json_decref(document);
}

static void run_tests() {
    if (write_drawn_calls(DOCUMENTS, call))
        fail("cannot write fuzz.txt");
}
