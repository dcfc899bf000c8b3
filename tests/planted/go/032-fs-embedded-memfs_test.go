// kind: member; line: 11; name: MemFS; how: absent type embedded in an own struct; dir: internal/fs
package fs_test

import (
	"testing"

	"github.com/restic/restic/internal/fs"
)

type countingFS struct {
	fs.MemFS
	opened int
}

func TestCountOpened(t *testing.T) {
	c := &countingFS{}
	c.opened++
	if c.opened != 1 {
		t.Fatal(c.opened)
	}
}
