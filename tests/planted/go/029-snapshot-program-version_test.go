// kind: member; line: 16; name: ProgramVersion; how: field of a newer restic; dir: internal/restic
package restic_test

import (
	"testing"
	"time"

	"github.com/restic/restic/internal/restic"
)

func TestNewSnapshotFields(t *testing.T) {
	sn, err := restic.NewSnapshot([]string{"/home"}, nil, "host", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	sn.ProgramVersion = "restic 0.14.0"
	if sn.Hostname != "host" {
		t.Error("host")
	}
}
