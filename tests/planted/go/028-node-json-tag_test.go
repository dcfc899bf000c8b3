// kind: parameter; line: 18; name: symlink_target; how: JSON key that no struct tag of Node has, in a tag of the suite's own; dir: internal/restic
package restic

import (
	"encoding/json"
	"testing"
)

func TestNodeJSONKeys(t *testing.T) {
	buf, err := json.Marshal(&Node{Name: "foo", Type: "symlink", LinkTarget: "bar"})
	if err != nil {
		t.Fatal(err)
	}

	var got struct {
		Name   string `json:"name"`
		Type   string `json:"type"`
		Target string `json:"symlink_target"`
	}
	if err := json.Unmarshal(buf, &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != `foo` || got.Target != "" && got.Target != "bar" {
		t.Errorf("wrong keys in %s", buf)
	}
}
