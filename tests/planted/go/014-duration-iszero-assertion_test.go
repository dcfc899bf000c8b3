// kind: member; line: 12; name: IsZero; how: absent method asked for by a type assertion at run time; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestDurationKnowsZero(t *testing.T) {
	var v interface{} = restic.Duration{}
	z, ok := v.(interface{ IsZero() bool })
	if ok && !z.IsZero() {
		t.Fatal("empty duration is not zero")
	}
	if !v.(restic.Duration).Zero() {
		t.Fatal("Zero")
	}
}
