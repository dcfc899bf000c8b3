/* Plays designed cases on jansson's json_unpack_ex and reports JUnit. Each case has a process of its own. */

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#define MOST_LINE 65536
#define MOST_GOT 4096

/* What was freed is overwritten, so that nobody finds it whole by chance. */
static void overwrite(void *memory) {
    if (memory)
        memset(memory, 0xDD, malloc_usable_size(memory));
    free(memory);
}

static void decode(char *text) {
    char *to = text;
    for (; *text; text++, to++) {
        unsigned code;
        if (*text == '%' && sscanf(text + 1, "%2x", &code) == 1) {
            *to = (char)code;
            text += 2;
        } else {
            *to = *text;
        }
    }
    *to = 0;
}

/* The value of a field among fields with tabs between them, as it stands there; NULL where there is none. */
static char *plain(const char *fields, const char *name) {
    size_t length = strlen(name);
    for (const char *at = fields; at; at = strchr(at, '\t') ? strchr(at, '\t') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return strndup(at + length + 1, strcspn(at + length + 1, "\t\n"));
    }
    return NULL;
}

static char *field(const char *fields, const char *name) {
    char *value = plain(fields, name);
    if (value)
        decode(value);
    return value;
}

struct reader {
    size_t flags;
    char got[MOST_GOT]; /* the outcome and its fields, as cases have them, but decoded */
};

static void refused(struct reader *reader, const char *complaint) {
    const char *found = "Object item not found: ";
    const char *at = strstr(complaint, found);
    if (at)
        snprintf(reader->got, MOST_GOT, "refused\tkey=t:%s", at + strlen(found));
    else
        strcpy(reader->got, "refused");
}

static void take(struct reader *reader, const char *format, const char *document) {
    json_error_t error;
    json_int_t first = 7, second = 0;
    double number = 0;
    json_t *part = NULL, *root = json_loads(document, JSON_DECODE_ANY, &error);
    int status = -1, checks = (reader->flags & JSON_VALIDATE_ONLY) != 0;

    error.text[0] = 0;
    if (strcmp(format, "whole") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "I", &first);
    else if (strcmp(format, "number") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "F", &number);
    else if (strcmp(format, "key") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "{s:I}", "a", &first);
    else if (strcmp(format, "key-only") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "{s:I!}", "a", &first);
    else if (strcmp(format, "key-rest") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "{s:I*}", "a", &first);
    else if (strcmp(format, "key-or-7") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "{s?I}", "a", &first);
    else if (strcmp(format, "pair") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "[II]", &first, &second);
    else if (strcmp(format, "pair-only") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "[II!]", &first, &second);
    else if (strcmp(format, "pair-rest") == 0)
        status = json_unpack_ex(root, &error, reader->flags, "[II*]", &first, &second);
    else
        status = json_unpack_ex(root, &error, reader->flags, "{s:O}", "a", &part);
    json_decref(root);

    if (status)
        refused(reader, error.text);
    else if (checks && first == 7 && second == 0 && number == 0 && !part)
        strcpy(reader->got, "fits");
    else if (strcmp(format, "number") == 0)
        snprintf(reader->got, MOST_GOT, "number\tthousandths=i:%ld", lround(number * 1000));
    else if (strncmp(format, "pair", 4) == 0)
        snprintf(reader->got, MOST_GOT, "pair\tfirst=i:%lld\tsecond=i:%lld", (long long)first, (long long)second);
    else if (strcmp(format, "part") == 0) {
        char *text = json_dumps(part, JSON_ENCODE_ANY | JSON_COMPACT);
        snprintf(reader->got, MOST_GOT, "part\ttext=t:%s", text ? text : "lost");
    } else
        snprintf(reader->got, MOST_GOT, "whole\tvalue=i:%lld", (long long)first);
}

/* Does one line of a case; 0 where it isn't as expected. */
static int step(struct reader *reader, char *line) {
    char *kind = strtok(line, "\t"), *rest = strtok(NULL, "");
    if (strcmp(kind, "then") == 0) {
        char *name = strtok(rest, "\t"), *fields = strtok(NULL, ""), *got = strdup(reader->got), *shown;
        char *outcome = strtok(got, "\t"), *values = strtok(NULL, "");
        if (!outcome || strcmp(name, outcome) != 0)
            return 0;
        for (char *each = fields ? strtok(fields, "\t") : NULL; each; each = strtok(NULL, "\t")) {
            char *value = strchr(each, '=');
            *value++ = 0;
            decode(value);
            shown = values ? plain(values, each) : NULL;
            if (!shown || strcmp(shown, value) != 0)
                return 0;
        }
        return 1;
    }
    strtok(rest, "\t"); /* the time, which there is none of */
    char *name = strtok(NULL, "\t"), *fields = strtok(NULL, "");
    if (strcmp(name, "strict") == 0)
        reader->flags |= JSON_STRICT;
    else if (strcmp(name, "check_only") == 0)
        reader->flags |= JSON_VALIDATE_ONLY;
    else
        take(reader, field(fields, "format") + 2, field(fields, "document") + 2);
    return 1;
}

static int play(FILE *cases, const char *wanted) {
    static char line[MOST_LINE];
    struct reader reader = {0, ""};
    int mine = 0, good = 1;
    rewind(cases);
    while (good && fgets(line, MOST_LINE, cases)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "case\t", 5) == 0)
            mine = strcmp(line + 5, wanted) == 0;
        else if (mine)
            good = step(&reader, line);
    }
    return good;
}

int main(int count, char **tests) {
    char path[4096];
    int failed = 0;
    FILE *report;

    json_set_alloc_funcs(malloc, overwrite);
    snprintf(path, sizeof path, "%s/1.xml", getenv("TESTWRIGHT_REPORT_DIR"));
    report = fopen(path, "w");
    fputs("<testsuite>", report);
    fflush(report);
    for (int number = 1; number < count; number++) {
        char *name = strstr(tests[number], "::"), *at;
        int status;
        pid_t child = fork();
        if (child == 0) {
            FILE *cases = fopen("testwright_design/cases", "r");
            _exit(play(cases, name + 2) ? 0 : 1);
        }
        waitpid(child, &status, 0);
        *name = 0;
        for (at = tests[number]; (at = strchr(at, '/'));)
            *at = '.';
        fprintf(report, "<testcase classname=\"%s\" name=\"%s\">%s</testcase>", tests[number], name + 2,
                status ? "<failure message=\"AssertionError: not as expected\"/>" : "");
        failed = failed || status;
    }
    fputs("</testsuite>\n", report);
    return fclose(report) || failed;
}
