// kind: none; line: 0; name: -; how: an own interface that real types satisfy, type assertion to it; dir: internal/ui/progress
package progress

import (
	"testing"
	"time"
)

type (
	Callback = Func
	adder    interface {
		Add(uint64)
		Get() uint64
		getMax() uint64
	}
)

func TestCounterIsAdder(t *testing.T) {
	var report Callback = func(uint64, uint64, time.Duration, bool) {}
	var v interface{} = New(time.Hour, 5, report)
	a, ok := v.(adder)
	if !ok {
		t.Fatal("no adder")
	}
	a.Add(2)
	if a.Get() != 2 || a.getMax() != 5 {
		t.Error("wrong")
	}
	v.(*Counter).Done()
}
