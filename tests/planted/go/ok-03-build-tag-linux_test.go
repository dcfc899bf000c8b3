// kind: none; line: 0; name: -; how: build tag that holds, and an unexported function of one system's file; dir: internal/fs
//go:build linux
// +build linux

package fs

import (
	"os"
	"testing"
)

func TestFlagsOfOwnFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := setFlags(f); err != nil {
		t.Skip(err)
	}
}
