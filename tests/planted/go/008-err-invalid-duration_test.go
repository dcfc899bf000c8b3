// kind: member; line: 14; name: ErrInvalidDuration; how: absent error variable; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/errors"
	"github.com/restic/restic/internal/restic"
)

func TestParseDurationRejects(t *testing.T) {
	for _, input := range []string{"5x", "d", "3 d"} {
		_, err := restic.ParseDuration(input)
		if !errors.Is(err, restic.ErrInvalidDuration) {
			t.Errorf("unexpected error for %q: %v", input, err)
		}
	}
}
