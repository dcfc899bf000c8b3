// kind: member; line: 12; name: isDurationUnit; how: absent unexported function of the package under test; dir: internal/restic
package restic

import "testing"

func TestParseUnit(t *testing.T) {
	for _, unit := range []string{"y", "m", "d", "h"} {
		num, rest, err := nextNumber("7" + unit)
		if err != nil || num != 7 {
			t.Fatalf("number: %v, %v", num, err)
		}
		if !isDurationUnit(rest) {
			t.Errorf("%q isn't a unit", rest)
		}
	}
}
