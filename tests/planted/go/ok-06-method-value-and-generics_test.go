// kind: none; line: 0; name: -; how: method values, method expressions and an own generic set; dir: internal/restic
package restic_test

import (
	"testing"

	"github.com/restic/restic/internal/restic"
)

type Set[T comparable] map[T]struct{}

func (s Set[T]) Contains(v T) bool {
	_, ok := s[v]
	return ok
}

func Map[A, B any](list []A, f func(A) B) (out []B) {
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}

func TestMapped(t *testing.T) {
	d := restic.Duration{Days: 1}
	set := Set[string]{}
	print := d.String
	for _, s := range append(Map([]restic.Duration{d}, restic.Duration.String), print()) {
		set[s] = struct{}{}
	}
	var parse = (*restic.Duration).Set
	if parse(&d, "5h") != nil || !set.Contains("1d") || len(set) != 1 {
		t.Fatal(set)
	}
}
