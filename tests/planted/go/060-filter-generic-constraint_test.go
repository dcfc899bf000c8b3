// kind: member; line: 10; name: Glob; how: absent type in the constraint of an own generic function; dir: internal/filter
package filter_test

import (
	"testing"

	"github.com/restic/restic/internal/filter"
)

func each[P filter.Pattern | filter.Glob](list []P, f func(P)) {
	for _, p := range list {
		f(p)
	}
}

func TestEachPattern(t *testing.T) {
	n := 0
	each(filter.ParsePatterns([]string{"a", "b"}), func(filter.Pattern) { n++ })
	if n != 2 {
		t.Fatal(n)
	}
}
