// kind: member; line: 15; name: ExitCode; how: absent function by way of a dot import; dir: internal/errors
package errors_test

import (
	"testing"

	. "github.com/restic/restic/internal/errors"
)

func TestDotImported(t *testing.T) {
	err := Fatalf("no %v", "way")
	if !IsFatal(err) {
		t.Error("not fatal")
	}
	if ExitCode(err) != 1 {
		t.Error("exit code")
	}
}
