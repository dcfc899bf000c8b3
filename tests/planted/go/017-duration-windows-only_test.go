// kind: member; line: 14; name: DurationFromFiletime; how: absent function in a file with a build tag that does not hold; dir: internal/restic
//go:build windows
// +build windows

package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestDurationFromFiletime(t *testing.T) {
	d := restic.DurationFromFiletime(36000000000)
	if d.Hours != 1 {
		t.Fatalf("got %v", d)
	}
}
