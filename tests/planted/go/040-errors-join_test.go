// kind: member; line: 11; name: Join; how: function of a newer standard library; dir: internal/errors
package errors_test

import (
	"testing"

	"github.com/restic/restic/internal/errors"
)

func TestJoinedErrorIsFatal(t *testing.T) {
	err := errors.Join(errors.New("a"), errors.Fatal("b"))
	if !errors.IsFatal(err) {
		t.Fatal("not fatal")
	}
}
