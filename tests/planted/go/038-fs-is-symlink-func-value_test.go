// kind: member; line: 18; name: IsSymlink; how: absent function as a value in a table; dir: internal/fs
package fs_test

import (
	"os"
	"testing"

	"github.com/restic/restic/internal/fs"
)

func TestKindOfDirectory(t *testing.T) {
	fi, err := fs.Lstat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, is := range map[string]func(os.FileInfo) bool{
		"regular": fs.IsRegularFile,
		"symlink": fs.IsSymlink,
	} {
		if is(fi) {
			t.Errorf("a directory is %v", name)
		}
	}
}
