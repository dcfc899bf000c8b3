package shellquote

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

var fuzzPieces = []string{
	" ", " ", "  ", "\t", "\n", "'", "'", `"`, `"`, `\`, `\`, "\\\n", `\"`, `\'`, `\\`, `\ `, "''", `""`, "a", "bc", "é", "日本", "$", "`",
	`\$`, "\\`", "\xff", "\xe3\x81", "\x00", "~", "*", "'it'", `"d q"`, "\r", "�", "'\\''", "#", "\\\t",
}

func fuzzLine(r *rand.Rand) string {
	var line string
	for n := r.Intn(14); n > 0; n-- {
		line += fuzzPieces[r.Intn(len(fuzzPieces))]
	}
	return line
}

// TestFuzzSplit calls the code on drawn inputs, each of them twice, and writes down what it answers.
func TestFuzzSplit(t *testing.T) {
	r, call := drawnInputs(t)

	for i := 0; i < 900; i++ {
		line := fuzzLine(r)
		call("split", fmt.Sprintf("%q", line), func() string {
			words, err := Split(line)
			return fmt.Sprintf("%q %v %v", words, words == nil, err)
		})
		if word := strings.TrimLeft(line, splitChars); i%3 == 0 && word != "" {
			call("word", fmt.Sprintf("%q", word), func() string {
				buf := bytes.NewBufferString("old")
				first, rest, err := splitWord(word, buf)
				return fmt.Sprintf("%q %q %v", first, rest, err)
			})
		}
		if i%3 == 1 {
			words := []string{fuzzLine(r), fuzzLine(r), fuzzPieces[r.Intn(len(fuzzPieces))]}
			call("joined", fmt.Sprintf("%q", words), func() string {
				split, err := Split(Join(words...))
				return fmt.Sprintf("%q %v", split, err)
			})
		}
	}
}
