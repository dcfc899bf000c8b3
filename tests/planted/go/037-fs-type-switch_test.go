// kind: member; line: 14; name: Tracker; how: absent type in a type switch; dir: internal/fs
package fs_test

import (
	"testing"

	"github.com/restic/restic/internal/fs"
)

func TestKindsOfFS(t *testing.T) {
	for _, f := range []fs.FS{fs.Local{}, &fs.Local{}, fs.Track{FS: fs.Local{}}} {
		switch f := f.(type) {
		case fs.Local, *fs.Local:
		case fs.Tracker:
			t.Error("pointer expected")
		default:
			t.Logf("%T", f)
		}
	}
}
