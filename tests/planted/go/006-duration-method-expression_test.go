// kind: member; line: 10; name: Less; how: absent method as a method expression; dir: internal/restic
package restic

import (
	"sort"
	"testing"
)

func TestDurationOrder(t *testing.T) {
	less := Duration.Less

	list := []Duration{{Years: 1}, {Days: 1}, {Hours: 1}}
	sort.Slice(list, func(i, j int) bool {
		return less(list[i], list[j])
	})

	if list[0].Hours != 1 || list[2].Years != 1 {
		t.Errorf("wrong order: %v", list)
	}
}
