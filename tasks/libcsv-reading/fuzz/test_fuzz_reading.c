/*
 * Reads texts that are drawn from TESTWRIGHT_FUZZ_SEED, each of them twice, and writes INPUT => RESULT for each into
 * fuzz.txt of the report directory.
 */

#include "csv.h"
#include "testwright_drawing.h"
#include <string.h>

#define TEXTS 700
#define MOST 700

static int left_of_memory;

static void write_text(const char *text, size_t length) {
  size_t i;

  for (i = 0; i < length; i++)
    if (text[i] > ' ' && text[i] < 127 && text[i] != '\\' && text[i] != '<' && text[i] != '=')
      fputc(text[i], calls);
    else
      fprintf(calls, "\\%02x", (unsigned char)text[i]);
}

static void on_field(void *field, size_t length, void *data) {
  fputs(field ? " <" : " NULL<", calls);
  if (field)
    write_text(field, length);
  fputc('>', calls);
  if (data && field && ((char *)field)[length] != 0)
    fputs("not ended", calls);
}

static void on_row(int c, void *data) {
  (void)data;
  fprintf(calls, " row %d", c);
}

static int letter_is_blank(unsigned char c) {
  return c == 'b' || c == ' ';
}

static int letter_ends(unsigned char c) {
  return c == 'e' || c == '\n';
}

/* Fails after some calls, where memory is drawn to be short. */
static void *scarce(void *old, size_t size) {
  if (left_of_memory == 0 || size > 100000)
    return NULL;
  left_of_memory--;
  return realloc(old, size);
}

static size_t draw_text(char *text) {
  static const char signs[] = ",,,,\"\"\"\"\n\n\r  \t;;''abe";
  size_t length = drawn(4) ? drawn(40) : drawn(MOST), i = 0, run;

  while (i < length) {
    if (drawn(12) == 0) {
      /* A whole field in quotes */
      text[i++] = '"';
      for (run = drawn(8); run && i < length; run--)
        text[i++] = signs[drawn(2) ? 0 : drawn(sizeof(signs) - 1)];
      if (i < length)
        text[i++] = '"';
    } else if (length > 40 && drawn(10) == 0) {
      for (run = drawn(300); run && i < length; run--)
        text[i++] = (char)('a' + run % 26);
    } else if (drawn(60) == 0) {
      text[i++] = (char)drawn(256);
    } else {
      text[i++] = signs[drawn(sizeof(signs) - 1)];
    }
  }
  return length;
}

static void call(void) {
  static char text[MOST + 1];
  struct csv_parser p;
  size_t length, done = 0, size, read;
  unsigned int options, kind;
  int again;

  length = draw_text(text);
  options = drawn(3) ? drawn(32) : 0;
  kind = drawn(8);
  size = drawn(3) ? 1 + drawn(9) : length + 1;
  left_of_memory = drawn(10) ? 1000 : (int)drawn(4);

  fprintf(calls, "read %u %u %zu %d ", options, kind, size, left_of_memory);
  write_text(text, length);
  fputs(" =>", calls);
  fflush(calls);
  fprintf(calls, " %d", csv_init(&p, (unsigned char)options));
  csv_set_realloc_func(&p, scarce);
  if (kind == 1 || kind == 2)
    csv_set_delim(&p, kind == 1 ? ';' : ' ');
  if (kind == 2 || kind == 3)
    csv_set_quote(&p, '\'');
  if (kind == 4 || kind == 5)
    csv_set_space_func(&p, letter_is_blank);
  if (kind == 5 || kind == 6)
    csv_set_term_func(&p, letter_ends);
  if (kind > 5)
    csv_set_blk_size(&p, 1 + drawn(300));
  fprintf(calls, " %u %u %d", csv_get_delim(&p), csv_get_quote(&p), csv_get_opts(&p));
  for (again = 0; again < 2; again++) {
    for (done = 0; done < length; done += read) {
      size_t part = length - done < size ? length - done : size;

      read = csv_parse(&p, text + done, part, kind == 7 && again ? NULL : on_field, on_row, options & CSV_APPEND_NULL ? &p : NULL);
      if (read != part) {
        fprintf(calls, " stopped %zu %d", done + read, csv_error(&p));
        break;
      }
    }
    fprintf(calls, " buffer %zu", csv_get_buffer_size(&p));
    fprintf(calls, " end %d", csv_fini(&p, on_field, on_row, NULL));
    fprintf(calls, " %d", csv_error(&p));
    if (again == 0)
      fprintf(calls, " set %d", csv_set_opts(&p, (unsigned char)(options ^ CSV_STRICT)));
    if (csv_error(&p))
      break;
  }
  csv_free(&p);
  fprintf(calls, " buffer %zu\n", csv_get_buffer_size(&p));
}

int main(void) {
  return write_drawn_calls(TEXTS, call);
}
