"""C functions that have something for every rule of the catalogue, or something that no rule may touch."""

SAMPLE = b"""
#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { SMALL, MIDDLE = 5, LARGE };
struct point { int x, y; unsigned bits : 3; char name[8]; };
typedef int (*sink_t)(const char *text, size_t length, void *to);

#define for_each_number(numbers, length, at, value) \\
    for (at = 0; at < (length) && ((value) = (numbers)[at], 1); at++)
#define each_of(numbers, length, value) \\
    for (size_t value##_at = 0; value##_at < length; value##_at++) \\
        if ((value = numbers[value##_at]), 1)
#define point_of(x_) ((struct point *)((char *)(x_) - offsetof(struct point, x)))
#define named(what) #what
#define TWICE(x) ((x) + (x))

static int calls;

static int noted(int value) { calls = calls * 31 + value; return value; }

/* Branches, each with a way out of its own. */
static int classify(int amount, const char *name, size_t length) {
    int result = 0;

    if (amount < 0 && length == 0)
        return -1;
    if (!name || length > 12 || name[0] == 'x')
        return 7;
    if (name[0] == 'a' && noted(amount) > 3) {
        result = 10;
    } else if (noted(result + 2) == 2 || noted(9)) {
        result += amount > 4 ? amount : -amount;
    } else
        result = 3;
    if (amount == 3) if (length == 2) result += 100; else result += 200;
    return result + (int)length;
}

static long sum(const int *numbers, size_t length, int most) {
    long total = 0;
    size_t at;
    int value, round = 0;

    for (at = 0; at < length; at++) {
        if (numbers[at] > most)
            continue;
        total += numbers[at];
    }
    for_each_number(numbers, length, at, value) {
        if (value == 5)
            break;
        total = total * 3 + value;
    }
    each_of(numbers, length, value) /* a macro again */ {
        total ^= value;
    }
    while (round < 4) {
        total += round * most;
        round++;
        if (total > 100000)
            break;
    }
    do {
        total -= 2;
        if (total & 1)
            continue;
        total += 1;
    } while (round-- > 0);
    for (int i = 0, j = 9; i < j; i++, j--)
        total += TWICE(i) * j;
    return total;
}

static const char *spelled(int kind, char *buffer, size_t size) {
    const char *text;

    switch (kind) {
        case SMALL:
            text = "small";
            break;
        case MIDDLE:
        case 6: {
            char inner[4];
            memcpy(inner, "mid", sizeof(inner));
            snprintf(buffer, size, "%s-%d", inner, kind);
            text = buffer;
            break;
        }
        case '\\n':
            return "newline";
        case 11:
            kind += 2;
            /* goes on */
        case 12:
            snprintf(buffer, size, "%d" "-" "%u", kind, 12u);
            return buffer;
        default:
            text = named(kind);
    }
    return text;
}

static int chosen(int kind) {
    switch (noted(kind)) {
        case 1: return 10;
        case 2: { int two = kind * 2; return two; }
        case 3: case 4: break;
        default: return -kind;
    }
    return 99;
}

static int recursive(int depth, sink_t sink, void *to) {
    int result = 0;
    char text[2 + sizeof(depth) * 4];

    if (depth <= 0)
        return sink("end", 3, to);
    result = snprintf(text, sizeof(text), "%d", depth);
    if (sink(text, (size_t)result, to) || recursive(depth - 1, sink, to))
        return -1;
    return result;
}

static int to_buffer(const char *text, size_t length, void *to) {
    char *end = (char *)to + strlen(to);
    memcpy(end, text, length);
    end[length] = '\\0';
    return 0;
}

static int jumps(int start) {
    int left = start, total = 0;
again:
    if (left <= 0)
        goto out;
    total += left;
    left -= 2;
    goto again;
out:
    return total;
}

static int variable_length(int length) {
    int cells[length > 0 ? length : 1], total = 0;
    for (int i = 0; i < length; i++)
        cells[i] = i * i;
    for (int i = 0; i < length; i++)
        total += cells[i];
    return total + (int)(sizeof(cells) / sizeof(cells[0]));
}

static int remembered(int step) {
    static int kept = 3;
    if (step > 2) {
        static int twice = 1;
        twice *= 2;
        kept += twice;
    }
    kept += step;
    return kept;
}

static int old_style(a, b)
    int a;
    char *b;
{
    if (a > 2)
        return a + b[0];
    return 5;
}

static jmp_buf place;
static int jumped(int value) {
    volatile int tries = 0;
    if (setjmp(place) == 0) {
        tries = tries + value;
        longjmp(place, 1);
    }
    return tries + 1;
}

static int assembled(int value) {
    int result = value;
    __asm__("" : "+r"(result));
    if (result > 3)
        result++;
    return result;
}

static int effects(int start, int *counter) {
    int i = start, j;
    j = i++ + 2;
    if ((j = noted(j) - 1) > 2 && ++*counter > 1)
        i += j;
    j = (noted(1), noted(i));
    *counter += i > 3 ? noted(i) : noted(-i);
    while (i-- > start)
        *counter += 1;
    return i * 100 + j;
}

static unsigned wide(unsigned value, double part, unsigned char small) {
    struct point point = {1, 2, 5, "name"}, *found = point_of(&point.x);
    unsigned char low = value;
    double scaled = part * 2.5;
    point.bits += value;
    found->y = small ? (int)scaled : -1;
    if (part > 1.5 && scaled < 100)
        low += small;
    return low * 3u + point.bits + (unsigned)point.y + (value << 3) + 0x1fu + (unsigned)strlen(point.name);
}

static void nothing(int value, int *to) {
    if (value == 0)
        return;
    *to += value;
#ifdef ERANGE
    int *second = to;
    if (value == 2)
        *second = 1;
#else
    *to = no_such_name;
#endif
    value ? noted(1) : (void)0;
}

static void errno_kept(int value) {
    errno = value;
    free(NULL);
}
"""
DRIVER = b"""
int main(void) {
    const char *names[] = {"", "a", "ax", "abc", "x", "longer than twelve", "b"};
    const int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
    char buffer[400];

    for (int amount = -3; amount < 14; amount++) {
        for (size_t name = 0; name < sizeof(names) / sizeof(names[0]); name++)
            printf("%d ", classify(amount, names[name], strlen(names[name])));
        for (size_t length = 0; length <= 8; length++)
            printf("%ld ", sum(numbers, length, amount));
        printf("%s ", spelled(amount, buffer, sizeof(buffer)));
        buffer[0] = '\\0';
        printf("%d ", recursive(amount, to_buffer, buffer));
        int counter = amount;
        printf("%s %d %d ", buffer, jumps(amount), variable_length(amount));
        printf("%d ", chosen(amount));
        printf("%d ", effects(amount, &counter));
        printf("%d %d %d %d ", counter, remembered(amount), old_style(amount, "k"), jumped(amount));
        printf("%d %u ", assembled(amount), wide((unsigned)amount * 77, amount / 3.0, (unsigned char)amount));
        nothing(amount, &counter);
        errno_kept(amount + 5);
        printf("%d %d %d\\n", counter, errno, calls);
    }
    printf("%d\\n", classify(2, NULL, 3));
    return 0;
}
"""
UNTOUCHED = ("old_style", "jumped", "assembled")
"""Functions that are left as they are, whatever is drawn."""
