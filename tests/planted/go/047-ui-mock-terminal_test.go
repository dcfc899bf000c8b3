// kind: member; line: 7; name: newMockTerminal; how: absent test double of the package under test; dir: internal/ui
package ui

import "testing"

func TestWrapperWritesToMock(t *testing.T) {
	term := newMockTerminal(t)
	w := NewStdioWrapper(term)
	if _, err := w.Stdout().Write([]byte("foo\n")); err != nil {
		t.Fatal(err)
	}
}
