package drawing

// Lies beside fuzz files while they run: draws by the check's seed, and writes down what the code answers.

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// drawnInputs returns what inputs are drawn with, and a function that makes a call twice and writes
// `NAME(INPUT) => ANSWER` into fuzz.txt of the report directory each time. A panic is an answer.
func drawnInputs(t *testing.T) (r *rand.Rand, call func(name, input string, f func() string)) {
	seed, err := strconv.ParseInt(os.Getenv("TESTWRIGHT_FUZZ_SEED"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(os.Getenv("TESTWRIGHT_REPORT_DIR"), "fuzz.txt")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return rand.New(rand.NewSource(seed)), func(name, input string, f func() string) {
		for i := 0; i < 2; i++ {
			fmt.Fprintf(out, "%s(%s) => %q\n", name, input, drawnAnswer(f))
		}
	}
}

func drawnAnswer(f func() string) (answer string) {
	defer func() {
		if p := recover(); p != nil {
			answer = fmt.Sprintf("panic %T %v", p, p)
		}
	}()
	return f()
}
