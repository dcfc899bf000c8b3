// kind: none; line: 0; name: -; how: struct tags and fields of the suite's own; dir: internal/options
package options_test

import (
	"reflect"
	"testing"

	"github.com/restic/restic/internal/options"
)

type custom struct {
	Minutes int    `option:"minutes" help:"how long" case:"first"`
	Weeks   string `option:"weeks" case:"second"`
}

func TestCustomTags(t *testing.T) {
	var c custom
	opts := options.Options{"minutes": "7", "weeks": "w"}
	if err := opts.Apply("ns", &c); err != nil {
		t.Fatal(err)
	}
	tag := reflect.TypeOf(c).Field(0).Tag.Get("case")
	if c.Minutes != 7 || c.Weeks != "w" || tag != "first" {
		t.Errorf("%+v, %v", c, tag)
	}
}
