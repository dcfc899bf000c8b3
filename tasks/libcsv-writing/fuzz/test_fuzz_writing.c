/*
 * Writes fields that are drawn from TESTWRIGHT_FUZZ_SEED, each of them twice, and writes INPUT => RESULT for each into
 * fuzz.txt of the report directory.
 */

#include "csv.h"
#include "testwright_drawing.h"
#include <string.h>

#define FIELDS 700
#define MOST 300
#define BEHIND 4

struct tape {
  unsigned char bytes[2 * MOST + 2];
  size_t used, limit;
};

static void write_bytes(const unsigned char *bytes, size_t length) {
  size_t i;

  for (i = 0; i < length; i++)
    if (bytes[i] > ' ' && bytes[i] < 127 && bytes[i] != '\\' && bytes[i] != '=')
      fputc(bytes[i], calls);
    else
      fprintf(calls, "\\%02x", bytes[i]);
}

/* Takes so many bytes, and then refuses. */
static ssize_t take(void *cookie, const char *bytes, size_t length) {
  struct tape *tape = cookie;

  if (tape->used + length > tape->limit)
    return 0;
  memcpy(tape->bytes + tape->used, bytes, length);
  tape->used += length;
  return (ssize_t)length;
}

static size_t draw_field(unsigned char *field) {
  static const char signs[] = "\"\"\"'''ab ,;\n\r\\\0\x80\xc3\xbc\xff";
  size_t length = drawn(4) ? drawn(20) : drawn(MOST), i;

  for (i = 0; i < length; i++)
    field[i] = drawn(8) ? (unsigned char)signs[drawn(sizeof(signs) - 1)] : (unsigned char)drawn(256);
  return length;
}

static void to_memory(const unsigned char *field, size_t length, int own, unsigned char quote) {
  static unsigned char room[2 * MOST + 2 + BEHIND];
  size_t size = drawn(3) ? drawn((unsigned int)length + 4) : 2 * MOST + 2, needed;
  int none = drawn(8) == 0;

  memset(room, '.', sizeof(room));
  fprintf(calls, " %s %zu =>", none ? "nowhere" : "memory", size);
  fflush(calls);
  needed = own ? csv_write2(none ? NULL : room, size, field, length, quote)
               : csv_write(none ? NULL : room, size, field, length);
  fprintf(calls, " %zu ", needed);
  write_bytes(room, (size < needed ? size : needed) + BEHIND < sizeof(room) ? (size < needed ? size : needed) + BEHIND : sizeof(room));
  fputc('\n', calls);
}

static void to_file(const unsigned char *field, size_t length, int own, unsigned char quote) {
  static struct tape tape;
  cookie_io_functions_t functions = {NULL, take, NULL, NULL};
  int none = drawn(12) == 0, buffered = (int)drawn(2), result;
  FILE *fp;

  tape.used = 0;
  tape.limit = drawn(2) ? sizeof(tape.bytes) : 1 + drawn((unsigned int)length + 2);
  fprintf(calls, " %s %zu %d =>", none ? "no file" : "file", tape.limit, buffered);
  fflush(calls);
  fp = fopencookie(&tape, "w", functions);
  if (!buffered)
    setvbuf(fp, NULL, _IONBF, 0);
  result = own ? csv_fwrite2(none ? NULL : fp, field, length, quote) : csv_fwrite(none ? NULL : fp, field, length);
  fprintf(calls, " %d %d ", result, ferror(fp) != 0);
  fclose(fp);
  write_bytes(tape.bytes, tape.used);
  fputc('\n', calls);
}

static void call(void) {
  static unsigned char field[MOST];
  static const char quotes[] = "''''\"`|a\xff";
  size_t length = draw_field(field);
  int own = (int)drawn(2), no_field = drawn(15) == 0;
  unsigned char quote = drawn(10) ? (unsigned char)quotes[drawn(sizeof(quotes) - 1)] : (unsigned char)drawn(256);

  fprintf(calls, "write %s %02x ", own ? "own" : "usual", own ? quote : '"');
  if (no_field)
    fputs("none", calls);
  else
    write_bytes(field, length);
  if (drawn(2))
    to_memory(no_field ? NULL : field, length, own, quote);
  else
    to_file(no_field ? NULL : field, length, own, quote);
}

int main(void) {
  return write_drawn_calls(FIELDS, call);
}
