// kind: member; line: 15; name: Reset; how: absent method called in a deferred closure; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
	rtest "github.com/restic/restic/internal/test"
)

func TestDurationSetKeepsOld(t *testing.T) {
	d := restic.Duration{Days: 4}

	defer func() {
		d.Reset()
		rtest.Assert(t, d.Zero(), "duration is %v", d)
	}()

	rtest.Assert(t, d.Set("nonsense") != nil, "no error")
	rtest.OK(t, d.Set("5d"))
	rtest.Equals(t, "5d", d.String())
}
