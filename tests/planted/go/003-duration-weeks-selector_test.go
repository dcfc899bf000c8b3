// kind: member; line: 15; name: Weeks; how: absent field read through a selector; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
	rtest "github.com/restic/restic/internal/test"
)

func TestDurationWeeksSelector(t *testing.T) {
	d, err := restic.ParseDuration("2y21d")
	rtest.OK(t, err)
	rtest.Equals(t, 2, d.Years)
	rtest.Equals(t, 3, d.Weeks)
}
