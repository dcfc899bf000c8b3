// kind: member; line: 12; name: NewIDSetFromStrings; how: absent constructor used by a helper; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

func idSetOf(t testing.TB, ids ...string) restic.IDSet {
	t.Helper()
	set, err := restic.NewIDSetFromStrings(ids)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestSetOfNothing(t *testing.T) {
	if !idSetOf(t).Equals(restic.NewIDSet()) {
		t.Fatal("not empty")
	}
}
