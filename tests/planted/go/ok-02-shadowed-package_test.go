// kind: none; line: 0; name: -; how: local variable that shadows the imported package; dir: internal/errors
package errors_test

import (
	"testing"

	"github.com/restic/restic/internal/errors"
)

type collector struct {
	Count int
	list  []error
}

func (c *collector) Collect(err error) {
	c.list = append(c.list, err)
	c.Count++
}

func TestCollected(t *testing.T) {
	first := errors.New("a")
	errors := &collector{}
	errors.Collect(first)
	if errors.Count != 1 {
		t.Fatal(errors.Count)
	}
}
