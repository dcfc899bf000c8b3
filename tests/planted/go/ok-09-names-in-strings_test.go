// kind: none; line: 0; name: -; how: absent names in strings and comments only, raw string with code; dir: internal/restic
package restic_test

import (
	"strings"
	"testing"

	"github.com/restic/restic/internal/restic"
)

// Unlike restic.MustParseDuration(s) or d.Normalize() of other libraries,
// restic.ParseDuration reports errors; see also restic.Duration.Weeks.
func TestRejectsCode(t *testing.T) {
	const code = `
package restic

func (d Duration) Weeks() int { return d.Normalize().Days / 7 }
`
	_, err := restic.ParseDuration(code)
	if err == nil || strings.Contains("restic.NoSuchThing()", err.Error()) {
		t.Fatal(err)
	}
}
