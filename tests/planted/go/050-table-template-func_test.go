// kind: parameter; line: 14; name: truncate; how: template function that the package does not register; dir: internal/ui/table
package table

import "testing"

func TestTableFunctions(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Log("column added")
		}
	}()
	tab := New()
	tab.AddColumn("Paths", `{{join .Paths "\n"}}`)
	tab.AddColumn("Host", `{{truncate .Host 8}}`)
}
