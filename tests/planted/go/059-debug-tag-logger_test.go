// kind: member; line: 14; name: CaptureLog; how: absent function in a file with the project's own build tag; dir: internal/debug
//go:build debug
// +build debug

package debug_test

import (
	"testing"

	"github.com/restic/restic/internal/debug"
)

func TestDebugLogCapture(t *testing.T) {
	buf := debug.CaptureLog(t)
	debug.Log("foo %v", 1)
	if buf.Len() == 0 {
		t.Fatal("nothing logged")
	}
}
