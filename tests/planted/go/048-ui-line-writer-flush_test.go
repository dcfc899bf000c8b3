// kind: member; line: 15; name: Flush; how: absent method of an unexported type; dir: internal/ui
package ui

import (
	"strings"
	"testing"
)

func TestLineWriterFlush(t *testing.T) {
	var out strings.Builder
	w := newLineWriter(func(s string) { out.WriteString(s) })
	if _, err := w.Write([]byte("foo")); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil || out.String() != "foo\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
