// kind: none; line: 0; name: -; how: promoted methods and fields through two embeddings; dir: internal/fs
package fs_test

import (
	"os"
	"testing"

	"github.com/restic/restic/internal/fs"
)

type outer struct {
	inner
	Exists bool
}

type inner struct {
	fs.ExtendedFileInfo
	fs.Local
}

func TestPromoted(t *testing.T) {
	fi, err := os.Lstat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := outer{inner: inner{ExtendedFileInfo: fs.ExtendedStat(fi)}, Exists: true}
	if !o.IsDir() || o.Inode == 0 || o.Base("/a/b") != "b" || !o.Exists {
		t.Error("not promoted")
	}
}
