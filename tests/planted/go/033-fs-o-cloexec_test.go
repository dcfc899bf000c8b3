// kind: member; line: 13; name: O_CLOEXEC; how: absent constant in an expression of flags; dir: internal/fs
package fs_test

import (
	"path/filepath"
	"testing"

	"github.com/restic/restic/internal/fs"
)

func TestOpenFileExclusively(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	f, err := fs.OpenFile(name, fs.O_CREATE|fs.O_EXCL|fs.O_WRONLY|fs.O_CLOEXEC, 0600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
