// kind: parameter; line: 11; name: label; how: invented grouping criterion within a string; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestGroupSnapshotsCriteria(t *testing.T) {
	for _, by := range []string{"host", "paths", "tags", "host,paths", "label"} {
		_, _, err := restic.GroupSnapshots(nil, by)
		if err != nil {
			t.Logf("group by %v: %v", by, err)
		}
	}
}
