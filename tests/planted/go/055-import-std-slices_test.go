// kind: module; line: 5; name: slices; how: package of a newer standard library; dir: internal/filter
package filter_test

import (
	"slices"
	"testing"

	"github.com/restic/restic/internal/filter"
)

func TestInvalidPatternsAreSorted(t *testing.T) {
	_, invalid := filter.ValidatePatterns([]string{"[", "ok", "a["})
	slices.Sort(invalid)
	if len(invalid) != 2 {
		t.Fatal(invalid)
	}
}
