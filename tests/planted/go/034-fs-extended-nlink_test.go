// kind: member; line: 22; name: Nlink; how: absent field, the standard library's name for an existing one; dir: internal/fs
package fs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExtendedStatLinks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, nil, 0600); err != nil {
		t.Fatal(err)
	}
	if err := Link(name, name+"2"); err != nil {
		t.Skip(err)
	}
	fi, err := Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := ExtendedStat(fi).Nlink; n != 2 {
		t.Errorf("%d links", n)
	}
}
