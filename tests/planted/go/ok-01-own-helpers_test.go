// kind: none; line: 0; name: -; how: own functions and a method of an own type with names that restic lacks; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

type duration struct{ restic.Duration }

func (d duration) Normalize() duration {
	d.Years += d.Months / 12
	d.Months %= 12
	return d
}

func MustParseDuration(t *testing.T, s string) duration {
	d, err := restic.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return duration{d}
}

func TestNormalizedByHelper(t *testing.T) {
	d := MustParseDuration(t, "14m").Normalize()
	if d.String() != "1y2m" || d.Zero() {
		t.Fatal(d)
	}
}
