// kind: member; line: 13; name: CacheFile; how: absent constant as a map key; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

var fileTypeNames = map[restic.FileType]string{
	restic.PackFile:     "data",
	restic.KeyFile:      "key",
	restic.CacheFile:    "cache",
	restic.SnapshotFile: "snapshot",
}

func TestFileTypeNames(t *testing.T) {
	for typ, name := range fileTypeNames {
		if string(typ) != name {
			t.Errorf("%v", typ)
		}
	}
}
