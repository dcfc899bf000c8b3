// kind: member; line: 13; name: WritableFile; how: absent interface type in a static assertion; dir: internal/fs
package fs_test

import (
	"os"
	"testing"

	"github.com/restic/restic/internal/fs"
)

var (
	_ fs.File         = &os.File{}
	_ fs.WritableFile = &os.File{}
)

func TestFileInterfaces(t *testing.T) {
	f, err := fs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}
