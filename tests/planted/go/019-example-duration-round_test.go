// kind: member; line: 10; name: Round; how: absent method named by an Example function; dir: internal/restic
package restic_test

import (
	"fmt"

	"github.com/restic/restic/internal/restic"
)

func ExampleDuration_Round() {
	d, err := restic.ParseDuration("3d")
	if err != nil {
		panic(err)
	}
	fmt.Println(d)
	// Output: 3d
}
