// kind: member; line: 11; name: durationUnits; how: absent variable named by go:linkname; dir: internal/restic
package restic_test

import (
	"testing"
	_ "unsafe"

	"github.com/restic/restic/internal/restic"
)

//go:linkname durationUnits github.com/restic/restic/internal/restic.durationUnits
var durationUnits map[string]int

func TestEveryUnitIsParsed(t *testing.T) {
	for unit := range durationUnits {
		if _, err := restic.ParseDuration("1" + unit); err != nil {
			t.Errorf("%v: %v", unit, err)
		}
	}
}
