// kind: member; line: 20; name: WithinDaily; how: absent field of a nested anonymous struct; dir: internal/restic
package restic_test

import (
	"testing"
	"time"

	"github.com/restic/restic/internal/restic"
)

func TestKeepReasonCounters(t *testing.T) {
	list := restic.Snapshots{{Time: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)}}
	keep, _, reasons := restic.ApplyPolicy(list, restic.ExpirePolicy{Last: 2})
	if len(keep) != 1 || len(reasons) != 1 {
		t.Fatalf("kept %d", len(keep))
	}
	if reasons[0].Counters.Last != 1 {
		t.Error("wrong last")
	}
	if reasons[0].Counters.WithinDaily != 0 {
		t.Error("wrong within")
	}
}
