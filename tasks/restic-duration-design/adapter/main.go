// Command testwright_design plays designed cases on durations and reports JUnit.
package main

import (
	"bufio"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/restic/restic/internal/restic"
)

type fields map[string]string // name -> kind and value, such as i:5 or t:1y

func (f fields) text(name string) string {
	return strings.TrimPrefix(f[name], "t:")
}

func (f fields) number(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(f[name], "i:"))
	if err != nil {
		panic(err)
	}
	return n
}

func parsed(told []string) fields {
	f := fields{}
	for _, each := range told {
		name, value, _ := strings.Cut(each, "=")
		plain, err := url.PathUnescape(value)
		if err != nil {
			panic(err)
		}
		f[name] = plain
	}
	return f
}

type subject struct{ kept restic.Duration }

func written(d restic.Duration) (string, fields) {
	return "written", fields{"text": "t:" + d.String()}
}

// act does one step. Text on which the program ends is refused, as text that it complains of.
func (s *subject) act(op string, f fields) (outcome string, got fields) {
	defer func() {
		if recover() != nil {
			outcome, got = "refused", nil
		}
	}()
	switch op {
	case "read":
		d, err := restic.ParseDuration(f.text("text"))
		if err != nil {
			return "refused", nil
		}
		number := func(n int) string { return fmt.Sprintf("i:%d", n) }
		return "duration", fields{
			"years": number(d.Years), "months": number(d.Months), "days": number(d.Days), "hours": number(d.Hours),
		}
	case "write":
		return written(restic.Duration{
			Years: f.number("years"), Months: f.number("months"), Days: f.number("days"), Hours: f.number("hours"),
		})
	case "set":
		if s.kept.Set(f.text("text")) != nil {
			return "refused", nil
		}
		return "taken", nil
	default:
		return written(s.kept)
	}
}

// play says what is wrong; nothing where the case passes.
func play(lines [][]string) string {
	var s subject
	var outcome string
	var got fields
	for _, line := range lines {
		if line[0] != "then" {
			outcome, got = s.act(line[2], parsed(line[3:]))
			continue
		}
		if outcome != line[1] {
			return fmt.Sprintf("expected %s, got %s", line[1], outcome)
		}
		for name, value := range parsed(line[2:]) {
			if got[name] != value {
				return fmt.Sprintf("expected %s %s, got %s", name, value, got[name])
			}
		}
	}
	return ""
}

func main() {
	file, err := os.Open("testwright_design/cases")
	if err != nil {
		panic(err)
	}
	cases, name := map[string][][]string{}, ""
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.Split(lines.Text(), "\t")
		if line[0] == "case" {
			name = line[1]
		} else {
			cases[name] = append(cases[name], line)
		}
	}
	status, report := 0, "<testsuite>"
	for _, test := range os.Args[1:] {
		place, name, _ := strings.Cut(test, "::")
		fault := ""
		if words := play(cases[name]); words != "" {
			status, fault = 1, fmt.Sprintf(`<failure message="AssertionError: %s"/>`, html.EscapeString(words))
		}
		class := strings.ReplaceAll(place, "/", ".")
		report += fmt.Sprintf(`<testcase classname="%s" name="%s">%s</testcase>`, class, name, fault)
	}
	path := filepath.Join(os.Getenv("TESTWRIGHT_REPORT_DIR"), "1.xml")
	if err := os.WriteFile(path, []byte(report+"</testsuite>\n"), 0o644); err != nil {
		panic(err)
	}
	os.Exit(status)
}
