// kind: member; line: 11; name: ID; how: absent field assigned to; dir: internal/restic
package restic

import "testing"

func TestHandleWithoutNameIsInvalid(t *testing.T) {
	h := Handle{Type: PackFile}
	if h.Valid() == nil {
		t.Error("no error")
	}
	h.ID = NewRandomID().String()
	if err := h.Valid(); err != nil {
		t.Error(err)
	}
}
