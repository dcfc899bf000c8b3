// kind: module; line: 8; name: github.com/stretchr/testify/require; how: well known package that the project does not have; dir: internal/options
package options_test

import (
	"testing"

	"github.com/restic/restic/internal/options"
	"github.com/stretchr/testify/require"
)

func TestParseWithRequire(t *testing.T) {
	opts, err := options.Parse(nil)
	require.NoError(t, err)
	require.Empty(t, opts)
}
