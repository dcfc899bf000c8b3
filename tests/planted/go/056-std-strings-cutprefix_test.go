// kind: member; line: 16; name: CutPrefix; how: function of a newer standard library; dir: internal/textfile
package textfile_test

import (
	"strings"
	"testing"

	"github.com/restic/restic/internal/textfile"
)

func TestDecodeStripsMark(t *testing.T) {
	buf, err := textfile.Decode([]byte("\xef\xbb\xbffoo"))
	if err != nil {
		t.Fatal(err)
	}
	if rest, ok := strings.CutPrefix(string(buf), "foo"); !ok || rest != "" {
		t.Errorf("%q", buf)
	}
}
