/* Lies beside fuzz files while they run: draws by the check's seed, and opens what answers are written to. */

#ifndef TESTWRIGHT_DRAWING_H
#define TESTWRIGHT_DRAWING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t drawing_state;

/* fuzz.txt of the report directory: INPUT => ANSWER in a line of its own for each call. */
static FILE *calls;

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t drawing_next(uint64_t *state) {
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;

    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

/* Below a limit, always the same numbers for a seed. */
static unsigned int drawn(unsigned int below) { return (unsigned int)(drawing_next(&drawing_state) >> 33) % below; }

/* Makes drawn calls, each of them twice with the same drawn numbers. Returns what main returns. */
static int write_drawn_calls(unsigned int count, void (*call)(void)) {
    const char *seed = getenv("TESTWRIGHT_FUZZ_SEED"), *reports = getenv("TESTWRIGHT_REPORT_DIR");
    uint64_t of_calls = seed ? strtoull(seed, NULL, 10) : 1;
    char path[4096];

    snprintf(path, sizeof(path), "%s/fuzz.txt", reports ? reports : ".");
    calls = fopen(path, "a");
    if (!calls)
        return EXIT_FAILURE;
    while (count--) {
        uint64_t from = drawing_next(&of_calls);
        int times;

        for (times = 0; times < 2; times++) {
            drawing_state = from;
            call();
            fflush(calls);
        }
    }
    return fclose(calls) ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
