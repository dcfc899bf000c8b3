// kind: member; line: 15; name: Content; how: absent field in a literal behind an address operator; dir: internal/fs
package fs_test

import (
	"io"
	"strings"
	"testing"

	"github.com/restic/restic/internal/fs"
)

func TestReaderServesContent(t *testing.T) {
	var target fs.FS = &fs.Reader{
		Name:    "stdin",
		Content: io.NopCloser(strings.NewReader("foo")),
	}
	if !target.IsAbs("stdin") {
		t.Fatal("not absolute")
	}
}
