// kind: member; line: 12; name: Minutes; how: absent field as key of a literal; dir: internal/restic
package restic

import "testing"

func TestDurationLiteralPrinted(t *testing.T) {
	for _, test := range []struct {
		d    Duration
		want string
	}{
		{Duration{Hours: 3}, "3h"},
		{Duration{Hours: 3, Minutes: 20}, "3h20m"},
	} {
		if s := test.d.String(); s != test.want {
			t.Errorf("want %q, got %q", test.want, s)
		}
	}
}
