package restic

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"
)

// Pieces that texts are drawn from: what people write, what is almost right, what must be refused.
var durationPieces = []string{
	"1", "2", "7", "10", "12", "36", "120", "365", "0", "00", "007", "2147483647", "9223372036854775807",
	"9223372036854775808", "99999999999999999999", "½", "٣", "²", "Ⅷ",
	"-", "-", "-", "+", "--", "−",
	"y", "y", "m", "m", "d", "d", "h", "h", "Y", "M", "w", "s", "ß", "µ", "\x00", "\xff", "\xc2", "%", ".", ",",
	" ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u0085", "\v",
}

var durationNumbers = []int{0, 0, 1, -1, 2, 9, 10, -10, 12, 100, 365, 4711, -2147483648, 9223372036854775807, -9223372036854775808}

func drawText(r *rand.Rand) string {
	var b strings.Builder
	blanks := []string{"", "", " ", "\t", " \n", "\u00a0 "}
	b.WriteString(blanks[r.Intn(len(blanks))])
	for n := r.Intn(6); n > 0; n-- {
		if r.Intn(4) == 0 {
			b.WriteString(durationPieces[r.Intn(len(durationPieces))])
			continue
		}
		if r.Intn(4) == 0 {
			b.WriteByte('-')
		}
		b.WriteString(strconv.Itoa(r.Intn([]int{10, 100, 100000}[r.Intn(3)])))
		b.WriteByte("ymdh"[r.Intn(4)])
	}
	b.WriteString(blanks[r.Intn(len(blanks))])
	return b.String()
}

func drawDuration(r *rand.Rand) Duration {
	n := func() int { return durationNumbers[r.Intn(len(durationNumbers))] }
	return Duration{Hours: n(), Days: n(), Months: n(), Years: n()}
}

func fields(d Duration) string {
	return fmt.Sprintf("{h %d d %d m %d y %d}", d.Hours, d.Days, d.Months, d.Years)
}

// TestFuzzDuration calls the code on drawn inputs, each of them twice, and writes down what it answers.
func TestFuzzDuration(t *testing.T) {
	r, call := drawnInputs(t)

	for i := 0; i < 500; i++ {
		text := drawText(r)
		before, d := drawDuration(r), drawDuration(r)
		call("ParseDuration", fmt.Sprintf("%q", text), func() string {
			d, err := ParseDuration(text)
			return fmt.Sprintf("%s %v", fields(d), err)
		})
		call("Set", fmt.Sprintf("%s, %q", fields(before), text), func() string {
			d := before
			err := d.Set(text)
			return fmt.Sprintf("%s %v", fields(d), err)
		})
		call("nextNumber", fmt.Sprintf("%q", text), func() string {
			num, rest, err := nextNumber(text)
			return fmt.Sprintf("%d %q %v", num, rest, err)
		})
		call("String", fields(d), func() string { return d.String() })
		call("print", fields(d), func() string { return fmt.Sprintf("%v %s", d, &d) })
		call("Zero", fields(d), func() string { return fmt.Sprint(d.Zero()) })
		call("Type", fields(d), func() string { return d.Type() })
	}
}
