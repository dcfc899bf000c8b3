// kind: member; line: 14; name: Humanize; how: absent method by reflection, name in a string; dir: internal/restic
package restic_test

import (
	"reflect"
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestDurationMethodsByName(t *testing.T) {
	d := restic.Duration{Days: 40}

	m := reflect.ValueOf(d).MethodByName("Humanize")
	if !m.IsValid() {
		t.Skip("not built with humanized durations")
	}
	out := m.Call(nil)
	if out[0].String() != "40 days" {
		t.Fatalf("got %v", out)
	}
}
