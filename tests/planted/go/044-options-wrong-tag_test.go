// kind: parameter; line: 12; name: default; how: struct tag that the package does not know; dir: internal/options
package options_test

import (
	"testing"

	"github.com/restic/restic/internal/options"
)

type target struct {
	Name     string `option:"name"`
	Required string `option:"req" default:"none"`
}

func TestApplyToTarget(t *testing.T) {
	var dst target
	err := options.Options{"name": "foo"}.Apply("ns", &dst)
	if err != nil {
		t.Fatal(err)
	}
	if dst.Name != "foo" || dst.Required == "x" {
		t.Errorf("%+v", dst)
	}
}
