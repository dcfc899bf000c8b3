package options

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/restic/restic/internal/errors"
)

var optionKeys = []string{
	"s3.layout", "S3.Layout", "s3.layout ", " s3.layout", "s3.connections", "sftp.command", "foo", "Foo", "FOO", "s3", "s3.",
	"s3.s3.a", ".s3.a", "s3x.a", "b2.key", "B2.Key", "a b", "GRÖßE.Ä", "größe.ä", "İ.x", "", " ", "\t", "\u00a0", "\u2003x",
	"k\xff", "\xffK", "\xc2", "s3.\xa0",
}

var optionValues = []string{
	"", "", " ", "default", "Default", " default ", "a=b", "a=b=c=", "=", "==", "=a", "true", "1", "01", "ssh -p 22 -o A=B", "\t x\r\n",
	"\u00a0y\u2003", "Ä", "\xff", "\xc2\u00a0", "日本",
}

var optionNamespaces = []string{"s3", "s3.", "b2", "b2.", "sftp", "foo", "s3.s3", "s", ".", "größe", "a b", "s3x", "\xff", ""}

func drawOption(r *rand.Rand) string {
	key, value := optionKeys[r.Intn(len(optionKeys))], optionValues[r.Intn(len(optionValues))]
	switch r.Intn(6) {
	case 0:
		return key
	case 1:
		return key + " = " + value
	}
	return key + "=" + value
}

func drawOptions(r *rand.Rand) []string {
	var in []string
	for n := r.Intn(5); n > 0; n-- {
		if len(in) > 0 && r.Intn(3) == 0 {
			in = append(in, in[r.Intn(len(in))])
			continue
		}
		in = append(in, drawOption(r))
	}
	return in
}

// TestFuzzOptions calls the code on drawn inputs, each of them twice, and writes down what it answers.
func TestFuzzOptions(t *testing.T) {
	r, call := drawnInputs(t)

	for i := 0; i < 800; i++ {
		option, in := drawOption(r), drawOptions(r)
		ns := optionNamespaces[r.Intn(len(optionNamespaces))]
		all := map[string]string{}
		for n := r.Intn(6); n > 0; n-- {
			all[strings.TrimSpace(optionKeys[r.Intn(len(optionKeys))])] = optionValues[r.Intn(len(optionValues))]
		}

		call("splitKeyValue", fmt.Sprintf("%q", option), func() string {
			key, value := splitKeyValue(option)
			return fmt.Sprintf("%q %q", key, value)
		})
		call("Parse", fmt.Sprintf("%q", in), func() string {
			given := append([]string(nil), in...)
			opts, err := Parse(given)
			return fmt.Sprintf("%q %t %v %t %q", opts, opts == nil, err, errors.IsFatal(err), given)
		})
		call("Extract", fmt.Sprintf("%q, %q", all, ns), func() string {
			o := Options{}
			for k, v := range all {
				o[k] = v
			}
			if len(all) == 0 && i%2 == 0 {
				o = nil
			}
			own := o.Extract(ns)
			return fmt.Sprintf("%q %t %q", own, own == nil, o)
		})
		call("Parse and Extract", fmt.Sprintf("%q, %q", in, ns), func() string {
			opts, err := Parse(in)
			return fmt.Sprintf("%q %v", opts.Extract(ns), err)
		})
	}
}
