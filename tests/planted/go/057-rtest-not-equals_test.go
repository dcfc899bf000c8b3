// kind: member; line: 16; name: NotEquals; how: absent helper of the project's test package; dir: internal/hashing
package hashing

import (
	"crypto/sha256"
	"strings"
	"testing"

	rtest "github.com/restic/restic/internal/test"
)

func TestSumsDiffer(t *testing.T) {
	a := NewReader(strings.NewReader("a"), sha256.New()).Sum(nil)
	b := NewReader(strings.NewReader("b"), sha256.New()).Sum(nil)
	rtest.Equals(t, a, b)
	rtest.NotEquals(t, a, nil)
}
