// kind: member; line: 15; name: Contains; how: absent method of a named slice type; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
	rtest "github.com/restic/restic/internal/test"
)

func TestTagListHoldsWhatWasSet(t *testing.T) {
	var l restic.TagList
	rtest.OK(t, l.Set("foo, bar,baz"))
	rtest.Equals(t, 3, len(l))
	rtest.Assert(t, l.Contains("bar"), "bar is missing in %v", l)
}
