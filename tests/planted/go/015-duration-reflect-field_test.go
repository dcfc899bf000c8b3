// kind: member; line: 15; name: Weeks; how: absent field by reflection, name in a string; dir: internal/restic
package restic_test

import (
	"reflect"
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestDurationFieldsAreInts(t *testing.T) {
	d := restic.Duration{Hours: 1, Days: 2, Months: 3, Years: 4}
	v := reflect.ValueOf(d)

	for _, name := range []string{"Hours", "Days", "Weeks", "Months", "Years"} {
		f := v.FieldByName(name)
		if f.IsValid() && f.Int() == 0 {
			t.Errorf("%v isn't set", name)
		}
	}
}
