// kind: member; line: 18; name: Exists; how: absent function, passed on as an argument; dir: internal/fs
package fs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/restic/restic/internal/fs"
	rtest "github.com/restic/restic/internal/test"
)

func TestRemoveIfExistsTwice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	rtest.OK(t, os.WriteFile(name, []byte("x"), 0600))

	rtest.OK(t, fs.RemoveIfExists(name))
	rtest.Equals(t, false, fs.Exists(name))
	rtest.OK(t, fs.RemoveIfExists(name))
}
