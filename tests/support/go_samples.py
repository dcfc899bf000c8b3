"""Go functions that have something for every rule of the catalogue, and `Run`, which calls them on many inputs."""

RULES = (
    "negate-comparison", "move-bound", "measure-string", "reorder-operands", "flip-branches", "empty-branch",
    "turn-guard", "split-condition", "return-early", "nest-else", "switch-to-if", "if-to-switch", "shuffle-cases",
    "break-in-loop", "test-at-end", "loop-by-goto", "range-by-index", "extract", "update-by-helper",
    "store-by-pointer", "call-by-variable", "literal-by-variable", "same-on-both-sides", "inert-statement",
)  # fmt: skip

SAMPLE = b"""// Package sample is all for tests.
package sample

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

type kind uint8

type point struct {
	X, Y int
	Name string
	kind kind
}

// Classify has a chain of branches.
func Classify(n int, name string) (label string, err error) {
	if n < 0 && name == "" {
		return "", errors.New("negative")
	} else if n == 0 {
		label = "zero"
	} else if n > 7 || len(name) > 3 {
		label += "many" // of them
	} else {
		label = "few"
	}
	switch name {
	case "a", "b":
		label += "-" + strings.ToUpper(name)
	case "c":
		label = "c" + label
	default:
		label += strconv.Itoa(n)
	}
	return label, nil
}

// Sum has loops of several kinds.
func Sum(numbers []int, most int) (total int) {
	for i := 0; i < len(numbers); i++ {
		if numbers[i] > most {
			continue
		}
		total += numbers[i]
	}
	for _, number := range numbers {
		if number == 3 {
			break
		}
		total = total*2 + number
	}
	left := most
	for left > 0 {
		left -= 2
		total++
	}
outer:
	for i := 0; i < 3; i++ {
		for j := range numbers {
			if j > i {
				continue outer
			}
			total ^= j
		}
	}
	return total
}

// Same has pure operands.
func Same(a, b point) bool {
	return a.X == b.X && a.Y == b.Y && a.Name == b.Name || a.kind > b.kind
}

// Half deals with numbers that are not ordered.
func Half(x float64) string {
	if x < 1 {
		return "small"
	}
	if !(x >= 1) {
		return "no number"
	}
	return fmt.Sprintf("%.2f", x/2)
}

// Move changes one struct and returns another.
func (p *point) Move(by int) point {
	old := *p
	var other point
	other.X = by
	other.Y = len(other.Name) + 7
	other.Name = p.Name
	if by > 2 && p.X > 0 {
		p.X += by
	}
	p.kind++
	defer func() { p.Y = old.Y + by }()
	if by == 5 {
		panic("five")
	}
	return other
}

// Parse reads as far as it can.
func Parse(text string) (fields []string, rest string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, ""
	}
	for text != "" {
		at := strings.IndexByte(text, ',')
		if at < 0 {
			break
		}
		fields = append(fields, text[:at])
		text = text[at+1:]
	}
	if text[0] == ';' {
		text = text[1:]
	}
	return fields, text
}

// Count has a closure that shares variables.
func Count(words ...string) map[string]int {
	found := make(map[string]int, len(words))
	calls := 0
	add := func(word string, by int) {
		calls++
		if by > 1 && word != "" {
			found[word] += by
		}
	}
	for i, word := range words {
		add(word, i)
	}
	found["calls"] = calls
	return found
}

// Run answers for many inputs. It is the same in all texts.
func Run() string {
	var out strings.Builder
	for n := -2; n < 12; n++ {
		for _, name := range []string{"", "a", "b", "c", "long one", "\\u00e9"} {
			label, err := Classify(n, name)
			fmt.Fprint(&out, label, err, ";")
			fmt.Fprint(&out, Same(point{n, n, name, 0}, point{n, 2, "a", kind(n)}), ";")
		}
		fmt.Fprint(&out, Sum([]int{n, 3, 5, n, 8}, n), Sum(nil, n), Half(float64(n)/3), ";")
		fmt.Fprint(&out, moved(n), ";")
	}
	fmt.Fprint(&out, Half(math.NaN()), Half(math.Inf(1)), ";")
	for _, text := range []string{"", " ", "a", "a,b", "a,b,;c", ",,x", ";", "\\xff,\\u00e9"} {
		fields, rest := parsed(text)
		fmt.Fprintf(&out, "%q %q;", fields, rest)
	}
	fmt.Fprintln(&out, Count("a", "b", "a", "", "c"), Count())
	return strings.TrimSpace(out.String())
}

func moved(by int) (words string) {
	p := point{by, 1, "p", 2}
	defer func() { words += fmt.Sprint(p, recover()) }()
	return fmt.Sprint(p.Move(by))
}

func parsed(text string) (fields []string, rest string) {
	defer func() {
		if problem := recover(); problem != nil {
			rest = fmt.Sprint(problem)
		}
	}()
	return Parse(text)
}
"""

# Each function of interest has another body, with other imports and a label.
SAMPLE_OTHER = (
    SAMPLE[: SAMPLE.index(b"// Classify")]
    .replace(b'\t"errors"\n', b"")
    .replace(b'\t"strconv"\n', b'\t"os"\n\t"sort"\n')
    + b"""
func Classify(n int, name string) (label string, err error) {
	return os.Getenv(name), nil
}

func Sum(numbers []int, most int) (total int) {
	sort.Ints(numbers)
outer:
	for {
		for range numbers {
			break outer
		}
		return most
	}
	return 0
}

func Same(a, b point) bool {
	return a == b
}

func Half(x float64) string {
	return fmt.Sprint(counted(x))
}

var calls, unit = 0, 1

func counted(x float64) float64 {
	calls += unit
	return x * float64(calls)
}

func (p *point) Move(by int) point {
	return *p
}

func Parse(text string) (fields []string, rest string) {
	return strings.Split(text, ","), ""
}

func Count(words ...string) map[string]int {
	return nil
}

"""
    + SAMPLE[SAMPLE.index(b"// Run ") :]
)

DRIVER = """package main

import (
	"fmt"
	IMPORTS
)

func main() {
	for _, run := range []func() string{CALLS} {
		fmt.Println(run())
	}
}
"""

SEEN = b"""package sample

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// ErrEmpty is compared by identity.
var ErrEmpty = errors.New("empty")

// List is told from others by reflection.
type List struct {
	Words []string `key:"words"`
	limit int
}

// Each calls back.
func (l *List) Each(visit func(word string) bool) error {
	if len(l.Words) == 0 {
		return ErrEmpty
	}
	for i, word := range l.Words {
		if i >= l.limit && l.limit > 0 || !visit(word) {
			break
		}
	}
	return nil
}

// Own says who it is.
func Own(deep int) string {
	pc, _, _, ok := runtime.Caller(0)
	if !ok || deep > 3 {
		return ""
	}
	return runtime.FuncForPC(pc).Name()
}

// Measure allocates nothing.
func Measure(text string, most int) (n int) {
	for i := 0; i < len(text) && i < most; i++ {
		if text[i] == ' ' || text[i] == '-' {
			continue
		}
		n += int(text[i])
	}
	if most > 100 || text == "" {
		n = -n
	}
	return n
}

// None tells no slice from an empty one.
func None(n int) []int {
	if n == 0 {
		return nil
	}
	if n < 0 {
		return []int{}
	}
	return make([]int, n, n+2)
}

// At panics as the language does.
func At(numbers []int, i int) int {
	if i < 0 {
		panic(ErrEmpty)
	}
	if i == 7 {
		return numbers[0] / (i - 7)
	}
	return numbers[i]
}

// Run answers what tests can see beside results.
func Run() string {
	var out strings.Builder
	list := &List{Words: []string{"a", "b", "c"}, limit: 2}
	list.Each(func(word string) bool {
		pcs := make([]uintptr, 8)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
		for frame, more := frames.Next(); more; frame, more = frames.Next() {
			fmt.Fprint(&out, frame.Function[strings.LastIndex(frame.Function, ".")+1:], " ")
		}
		return word != "b"
	})
	fmt.Fprint(&out, (&List{}).Each(nil) == ErrEmpty, Own(1)[strings.LastIndex(Own(1), "."):])
	kind := reflect.TypeOf(list)
	fmt.Fprint(&out, kind.Elem().Name(), kind.NumMethod(), kind.Method(0).Type, kind.Elem().Field(0).Tag)
	fmt.Fprint(&out, reflect.TypeOf(Measure), reflect.ValueOf(None(0)).IsNil(), None(-1) == nil, cap(None(3)))
	fmt.Fprint(&out, testing.AllocsPerRun(100, func() { Measure("some words-and more", 12) }))
	for i := -1; i < 9; i++ {
		func() {
			defer func() {
				problem := recover()
				_, runs := problem.(runtime.Error)
				fmt.Fprintf(&out, "%T %v %v;", problem, problem, runs)
			}()
			fmt.Fprint(&out, At([]int{1, 2, 3}, i))
		}()
	}
	return strings.ReplaceAll(out.String(), reflect.TypeOf(*list).PkgPath(), "")
}
"""
"""What honest tests may see of functions beside their results."""
