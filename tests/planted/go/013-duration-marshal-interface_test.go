// kind: member; line: 12; name: MarshalText; how: absent method demanded by an own interface, checked by the compiler; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

type textDuration interface {
	String() string
	MarshalText() ([]byte, error)
}

func TestDurationText(t *testing.T) {
	var d textDuration = restic.Duration{Hours: 2}
	buf, err := d.MarshalText()
	if err != nil || string(buf) != d.String() {
		t.Fatalf("got %q, %v", buf, err)
	}
}
