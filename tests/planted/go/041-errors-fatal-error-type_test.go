// kind: member; line: 11; name: FatalError; how: absent exported type as target of As; dir: internal/errors
package errors_test

import (
	"testing"

	"github.com/restic/restic/internal/errors"
)

func TestAsFatal(t *testing.T) {
	var fatal *errors.FatalError
	if !errors.As(errors.Fatal("foo"), &fatal) {
		t.Fatal("not found in chain")
	}
}
