// kind: none; line: 0; name: -; how: dot import, a label, an own type named as a package's function; dir: internal/ui/table
package table_test

import (
	"bytes"
	"testing"

	. "github.com/restic/restic/internal/ui/table"
)

type SetHeader struct{ Name string }

func TestDotTable(t *testing.T) {
	var buf bytes.Buffer
	tab := New()
	tab.AddColumn("Name", "{{.Name}}")
rows:
	for i := 0; ; i++ {
		tab.AddRow(SetHeader{Name: "foo"})
		if i == 1 {
			break rows
		}
	}
	if err := tab.Write(&buf); err != nil {
		t.Fatal(err)
	}
}
