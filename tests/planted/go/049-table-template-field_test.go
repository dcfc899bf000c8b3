// kind: parameter; line: 15; name: Hostname; how: field in a template that the row has not; dir: internal/ui/table
package table

import (
	"strings"
	"testing"
)

func TestTableMissingCell(t *testing.T) {
	type row struct{ ID, Host string }

	var out strings.Builder
	tab := New()
	tab.AddColumn("ID", "{{.ID}}")
	tab.AddColumn("Host", "{{.Hostname}}")
	tab.AddRow(row{"1", "mars"})
	if err := tab.Write(&out); err == nil && !strings.Contains(out.String(), "1") {
		t.Fatal(out.String())
	}
}
