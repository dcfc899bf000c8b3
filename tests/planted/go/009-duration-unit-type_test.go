// kind: member; line: 12; name: DurationUnit; how: absent type in a var declaration; dir: internal/restic
package restic_test

import (
	"fmt"
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestDurationUnitsRoundTrip(t *testing.T) {
	var units [4]restic.DurationUnit

	for i, c := range "ymdh" {
		d, err := restic.ParseDuration(fmt.Sprintf("1%c", c))
		if err != nil {
			t.Fatal(err)
		}
		if len(d.String()) != 2 {
			t.Errorf("unit %v: got %v", units[i], d)
		}
	}
}
