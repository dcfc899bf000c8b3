// kind: module; line: 8; name: github.com/restic/restic/internal/testutil; how: absent package of the project; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
	"github.com/restic/restic/internal/testutil"
)

func TestZeroWithTestutil(t *testing.T) {
	testutil.True(t, restic.Duration{}.Zero())
}
