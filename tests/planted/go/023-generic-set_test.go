// kind: member; line: 11; name: Set; how: absent generic type, instantiated; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestGenericSet(t *testing.T) {
	set := make(restic.Set[restic.ID])
	id := restic.NewRandomID()
	set[id] = struct{}{}
	if len(set) != 1 {
		t.Fatal("not inserted")
	}
}
