// kind: member; line: 14; name: Redacted; how: absent method expression of a pointer type; dir: internal/options
package options_test

import (
	"testing"

	"github.com/restic/restic/internal/options"
)

func TestSecretViews(t *testing.T) {
	s := options.NewSecretString("geheim")
	views := []func(*options.SecretString) string{
		(*options.SecretString).String,
		(*options.SecretString).Redacted,
	}
	for _, view := range views {
		if view(&s) == "geheim" {
			t.Error("secret is shown")
		}
	}
}
