// kind: parameter; line: 11; name: RESTIC_TEST_KEEP_TEMPDIR; how: environment variable that nothing reads; dir: internal/test
package test_test

import (
	"testing"

	rtest "github.com/restic/restic/internal/test"
)

func TestTempDirIsKept(t *testing.T) {
	t.Setenv("RESTIC_TEST_KEEP_TEMPDIR", "true")
	dir, cleanup := rtest.TempDir(t)
	if dir == "" {
		t.Fatal("no directory")
	}
	cleanup()
}
