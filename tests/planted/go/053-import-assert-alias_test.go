// kind: module; line: 8; name: github.com/restic/restic/internal/test/assert; how: absent subpackage under an alias that a real one often has; dir: internal/ui/progress
package progress_test

import (
	"testing"
	"time"

	rtest "github.com/restic/restic/internal/test/assert"
	"github.com/restic/restic/internal/ui/progress"
)

func TestCounterWithAlias(t *testing.T) {
	c := progress.New(time.Hour, 0, func(uint64, uint64, time.Duration, bool) {})
	c.Done()
	rtest.Equals(t, uint64(0), c.Get())
}
