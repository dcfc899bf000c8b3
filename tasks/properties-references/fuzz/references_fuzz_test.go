package properties

import (
	"fmt"
	"io/ioutil"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"
)

var referenceKeys = []string{"a", "b", "c", "host", "url", "DRAWN_HOST", "DRAWN_URL", "größe", "a b", "%s"}

var referenceNames = []string{"a", "b", "c", "host", "url", "DRAWN_HOST", "DRAWN_URL", "DRAWN_EMPTY", "DRAWN_NOWHERE", "größe", "a b", "", "%s"}

var referenceTexts = []string{"", "", "x", "http://", "/index", " ", "日本", "$", "{", "}", "$$", "{}", "#", "100%d", "]#", "a=b"}

var referenceMarks = [][2]string{{"${", "}"}, {"${", "}"}, {"${", "}"}, {"#[", "]#"}, {"%", "%"}, {"<<", ">"}, {"$", ""}, {"", "}"}, {"", ""}}

// drawText draws a value with none to three references in it; few of them aren't closed.
func drawText(r *rand.Rand, marks [2]string) string {
	text := referenceTexts[r.Intn(len(referenceTexts))]
	for n := r.Intn(4); n > 0; n-- {
		text += marks[0] + referenceNames[r.Intn(len(referenceNames))]
		if r.Intn(16) > 0 {
			text += marks[1]
		}
		text += referenceTexts[r.Intn(len(referenceTexts))]
	}
	return text
}

// drawValues draws settings; a few are a chain about as long as may be.
func drawValues(r *rand.Rand, marks [2]string) map[string]string {
	values := map[string]string{}
	if r.Intn(12) == 0 {
		n := maxExpansionDepth - 2 + r.Intn(4)
		for i := 0; i < n; i++ {
			values[fmt.Sprintf("k%d", i)] = marks[0] + fmt.Sprintf("k%d", i+1) + marks[1]
		}
		values[fmt.Sprintf("k%d", n)] = "end"
	}
	for n := r.Intn(5); n >= 0; n-- {
		text := referenceTexts[r.Intn(len(referenceTexts))]
		if r.Intn(3) > 0 {
			text = drawText(r, marks)
		}
		values[referenceKeys[r.Intn(len(referenceKeys))]] = text
	}
	return values
}

// source is the text of a file with these settings in it.
func source(values map[string]string, order *rand.Rand) string {
	var lines []string
	for _, key := range referenceKeys {
		if value, ok := values[key]; ok {
			lines = append(lines, strings.Replace(key, " ", "\\ ", -1)+" = "+value)
		}
	}
	for i := 0; i <= maxExpansionDepth+2; i++ {
		if value, ok := values[fmt.Sprintf("k%d", i)]; ok {
			lines = append(lines, fmt.Sprintf("k%d = %s", i, value))
		}
	}
	order.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, "\n")
}

// refusal says why; of several reasons it depends on chance which one is found first.
func refusal(err error) string {
	if err == nil {
		return "accepted"
	}
	text := strings.SplitN(err.Error(), "\n", 2)[0]
	switch text {
	case "circular reference in:", "malformed expression", "expansion too deep":
		return "refused"
	}
	return "refused: " + text
}

// read has all that settings show.
func read(p *Properties, err error) string {
	if p == nil {
		return "nothing, " + refusal(err)
	}
	text := fmt.Sprintf("%q %d %q %t %s", p.m, len(p.m), p.Keys(), p.DisableExpansion, refusal(err))
	if err == nil {
		for _, key := range p.Keys() {
			value, ok := p.Get(key)
			text += fmt.Sprintf(" %q=%q %t", key, value, ok)
		}
	}
	return text
}

// copied is a map of its own.
func copied(values map[string]string) map[string]string {
	other := map[string]string{}
	for key, value := range values {
		other[key] = value
	}
	return other
}

// TestFuzzReferences calls the code on drawn inputs, each of them twice, and writes down what it answers.
func TestFuzzReferences(t *testing.T) {
	r, call := drawnInputs(t)
	ErrorHandler = PanicHandler
	t.Setenv("DRAWN_HOST", "example.net")
	t.Setenv("DRAWN_URL", "http://${DRAWN_HOST}/${host}")
	t.Setenv("DRAWN_EMPTY", "")
	dir := t.TempDir()
	t.Setenv("DRAWN_DIR", dir)

	for i := 0; i < 150; i++ {
		marks := referenceMarks[r.Intn(len(referenceMarks))]
		values, text := drawValues(r, marks), drawText(r, marks)
		var keys []string
		for n := r.Intn(3); n > 0; n-- {
			keys = append(keys, referenceNames[r.Intn(len(referenceNames))])
		}
		if marks[0]+marks[1] != "" {
			call("expand", fmt.Sprintf("%q %q %q %q", text, keys, marks, values), func() string {
				given := append([]string(nil), keys...)
				result, err := expand(text, given, marks[0], marks[1], values)
				return fmt.Sprintf("%q %v %q %q", result, err, given, values)
			})
		}

		of := func() *Properties {
			p := NewProperties()
			p.Prefix, p.Postfix, p.DisableExpansion = marks[0], marks[1], i%7 == 0
			p.m = copied(values)
			return p
		}
		key := referenceKeys[r.Intn(len(referenceKeys))]
		if _, ok := values[key]; ok {
			call("value", fmt.Sprintf("%q %q %q %t", key, values, marks, i%7 == 0), func() string {
				value, ok := of().Get(key)
				return fmt.Sprintf("%q %t", value, ok)
			})
		}
		call("expand of settings", fmt.Sprintf("%q %q %q %q", key, text, values, marks), func() string {
			value, err := of().expand(key, text)
			return fmt.Sprintf("%q %v", value, err)
		})
		changed := referenceNames[r.Intn(len(referenceNames))]
		call("change", fmt.Sprintf("%q %q %q %q %t", changed, text, values, marks, i%7 == 0), func() string {
			p := of()
			prev, ok, err := p.Set(changed, text)
			return fmt.Sprintf("%q %t %v %q %q", prev, ok, err, p.m, p.k)
		})

		values, order := drawValues(r, referenceMarks[0]), r.Int63()
		call("load", fmt.Sprintf("%q %d %t", values, order, i%5 == 0), func() string {
			l := &Loader{Encoding: UTF8, DisableExpansion: i%5 == 0}
			return read(l.LoadBytes([]byte(source(values, rand.New(rand.NewSource(order))))))
		})

		var all []map[string]string
		var names []string
		for n := r.Intn(3); n >= 0; n-- {
			part := drawValues(r, referenceMarks[0])
			name := fmt.Sprintf("%d-%d.properties", i, n)
			if err := ioutil.WriteFile(filepath.Join(dir, name), []byte(source(part, r)), 0600); err != nil {
				t.Fatal(err)
			}
			where := []string{dir, "${DRAWN_DIR}", "${DRAWN_EMPTY}${DRAWN_DIR}${DRAWN_NOWHERE}", "${DRAWN_DIR"}[r.Intn(13)%4]
			all, names = append(all, part), append(names, where+"/"+name)
		}
		shown := strings.Replace(fmt.Sprintf("%q", names), dir, "DIR", -1)
		call("load files", fmt.Sprintf("%s %q %t", shown, all, i%5 == 0), func() string {
			l := &Loader{Encoding: UTF8, DisableExpansion: i%5 == 0}
			return strings.Replace(read(l.LoadAll(names)), dir, "DIR", -1)
		})
		file := drawText(r, referenceMarks[0])
		call("name", fmt.Sprintf("%q", file), func() string {
			name, err := expandName(file)
			return fmt.Sprintf("%q %v", name, err)
		})
	}
}
