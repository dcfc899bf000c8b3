// kind: member; line: 14; name: KeepLast; how: absent field in a slice of literals without type names; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestPolicySum(t *testing.T) {
	for i, p := range []restic.ExpirePolicy{
		{Hourly: 1, Daily: 2},
		{Weekly: 3},
		{KeepLast: 3},
	} {
		if p.Sum() != 3 {
			t.Errorf("%d: sum is %d", i, p.Sum())
		}
	}
}
