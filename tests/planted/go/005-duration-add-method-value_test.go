// kind: member; line: 13; name: Add; how: absent method as a method value; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
	rtest "github.com/restic/restic/internal/test"
)

func TestDurationSumOfTwo(t *testing.T) {
	base := restic.Duration{Days: 1}
	plus := base.Add

	for hours := 0; hours < 4; hours++ {
		sum := plus(restic.Duration{Hours: hours})
		rtest.Equals(t, restic.Duration{Days: 1, Hours: hours}, sum)
	}
}
