// kind: member; line: 17; name: DurationFromTime; how: absent function called in a table of cases; dir: internal/restic
package restic_test

import (
	"testing"
	"time"

	"github.com/restic/restic/internal/restic"
)

func TestDurationTable(t *testing.T) {
	tests := map[string]struct {
		have restic.Duration
		want string
	}{
		"fields": {restic.Duration{Days: 2}, "2d"},
		"clock":  {restic.DurationFromTime(49 * time.Hour), "2d1h"},
		"none":   {restic.Duration{}, ""},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.have.String(); got != test.want {
				t.Fatalf("want %q, got %q", test.want, got)
			}
		})
	}
}
