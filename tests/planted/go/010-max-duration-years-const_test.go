// kind: member; line: 6; name: MaxDurationYears; how: absent constant in an own const declaration; dir: internal/restic
package restic

import "testing"

const tooManyYears = MaxDurationYears + 1

func TestDurationYearLimit(t *testing.T) {
	d := Duration{Years: tooManyYears}
	if d.Zero() {
		t.Fatal("must not be zero")
	}
}
