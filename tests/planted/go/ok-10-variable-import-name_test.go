// kind: none; line: 0; name: -; how: import whose last element is not the package's name, local closures of fields; dir: internal/textfile
package textfile_test

import (
	"testing"

	"github.com/cenkalti/backoff/v4"
	tx "github.com/restic/restic/internal/textfile"
	tomb "gopkg.in/tomb.v2"
)

func TestDecodeInTomb(t *testing.T) {
	var tmb tomb.Tomb
	api := struct {
		Decode func([]byte) ([]byte, error)
		Encode func(string) []byte
	}{
		Decode: tx.Decode,
		Encode: func(s string) []byte { return []byte(s) },
	}
	tmb.Go(func() error {
		return backoff.Retry(func() error {
			_, err := api.Decode(api.Encode("foo"))
			return err
		}, &backoff.StopBackOff{})
	})
	if err := tmb.Wait(); err != nil {
		t.Fatal(err)
	}
}
