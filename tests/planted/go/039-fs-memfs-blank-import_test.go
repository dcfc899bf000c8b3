// kind: module; line: 8; name: github.com/restic/restic/internal/fs/memfs; how: absent package, imported for its effects; dir: internal/fs
package fs_test

import (
	"testing"

	"github.com/restic/restic/internal/fs"
	_ "github.com/restic/restic/internal/fs/memfs"
)

func TestLocalBase(t *testing.T) {
	if fs.Local.Base(fs.Local{}, "/a/b") != "b" {
		t.Fatal("base")
	}
}
