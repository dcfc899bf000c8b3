// kind: member; line: 9; name: Normalize; how: absent method of Duration; dir: internal/restic
package restic

import "testing"

func TestDurationNormalizeCarries(t *testing.T) {
	d := Duration{Months: 14, Days: 3}

	got := d.Normalize()
	want := Duration{Years: 1, Months: 2, Days: 3}
	if got != want {
		t.Errorf("wrong duration, want %v, got %v", want, got)
	}
}
