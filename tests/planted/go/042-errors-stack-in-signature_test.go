// kind: member; line: 11; name: StackTrace; how: absent type as a function's result; dir: internal/errors
package errors_test

import (
	"testing"

	"github.com/restic/restic/internal/errors"
)

type tracer interface {
	StackTrace() errors.StackTrace
}

func TestErrorsCarryStack(t *testing.T) {
	if _, ok := errors.New("foo").(tracer); !ok {
		t.Skip("no stack")
	}
}
