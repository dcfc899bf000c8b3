// kind: member; line: 11; name: RegisterDefaults; how: absent function called in init; dir: internal/options
package options_test

import (
	"testing"

	"github.com/restic/restic/internal/options"
)

func init() {
	options.RegisterDefaults()
	options.Register("ns", struct {
		A string `option:"a" help:"b"`
	}{})
}

func TestRegisteredInInit(t *testing.T) {
	if len(options.List()) == 0 {
		t.Fatal("nothing registered")
	}
}
