// kind: member; line: 13; name: Callback; how: absent type in a conversion; dir: internal/ui/progress
package progress_test

import (
	"testing"
	"time"

	"github.com/restic/restic/internal/ui/progress"
)

func TestReportIsCalled(t *testing.T) {
	called := false
	report := progress.Callback(func(v, total uint64, d time.Duration, final bool) {
		called = final
	})
	progress.New(0, 1, progress.Func(report)).Done()
	if !called {
		t.Error("not called")
	}
}
