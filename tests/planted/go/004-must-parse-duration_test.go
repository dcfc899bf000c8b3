// kind: member; line: 11; name: MustParseDuration; how: absent function, within a package variable's initialiser; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

var (
	oneYear  = restic.MustParseDuration("1y")
	noTime   = restic.Duration{}
	allTimes = []restic.Duration{oneYear, noTime}
)

func TestZeroOnlyForEmptyDuration(t *testing.T) {
	for i, d := range allTimes {
		if d.Zero() != (i == 1) {
			t.Errorf("%d: wrong result for %v", i, d)
		}
	}
}
