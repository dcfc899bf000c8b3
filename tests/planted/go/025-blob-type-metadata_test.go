// kind: member; line: 17; name: MetadataBlob; how: absent enum-like constant in a switch case; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

func TestBlobTypeNames(t *testing.T) {
	for typ := restic.DataBlob; typ < restic.NumBlobTypes; typ++ {
		switch typ {
		case restic.DataBlob:
			if typ.String() != "data" {
				t.Error("data")
			}
		case restic.MetadataBlob:
			if typ.String() != "tree" {
				t.Error("tree")
			}
		}
	}
}
