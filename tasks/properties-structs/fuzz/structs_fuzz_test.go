package properties

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"
)

type filledAddress struct {
	Host string
	Port uint16 `properties:"port,default=443"`
}

type filledSite struct {
	Address filledAddress     `properties:"at"`
	Labels  map[string]string `properties:"label"`
	Admins  []string          `properties:",default=root; ;ops"`
}

type filledNumbers struct {
	A int     `properties:"a"`
	B int8    `properties:",default=-8"`
	C uint    `properties:"c,default=7"`
	D uint64  `properties:",default=64"`
	E float32 `properties:"e,default=0.5"`
	F float64
	X string `properties:"-"`
}

type filledTimes struct {
	Wait  time.Duration
	Waits []time.Duration `properties:",default=1m;2s"`
	Since time.Time       `properties:"since,default=2015-01-02T12:34:56Z"`
	Day   time.Time       `properties:"day,layout=2006-01-02"`
	Days  []time.Time     `properties:"days,layout=02.01.2006,default=24.12.2022"`
}

type filledSwitches struct {
	On   bool `properties:",default=yes"`
	Off  bool `properties:"off"`
	All  []bool
	Kept bool `properties:"-"`
	Note string
}

type filledSites struct {
	Main  filledSite `properties:"main"`
	Other filledSite
	Name  string `properties:",default="`
}

type filledMaps struct {
	Texts  map[string]string
	Lists  map[string][]int            `properties:"list"`
	Sites  map[string]filledSite       `properties:"site"`
	Limits map[string]map[string]uint8 `properties:"limit"`
	Waits  map[string]time.Duration
}

type filledPointers struct {
	Site *filledSite `properties:"main"`
	Name *string     `properties:"Name,default=nobody"`
}

type filledHidden struct {
	Name   string `properties:",default=a"`
	hidden string
}

type filledOdd struct {
	Name string `properties:",default=a"`
	Odd  func() `properties:",default=b"`
}

// filledKinds make a new struct each, with something in it where that must be so.
var filledKinds = []func() interface{}{
	func() interface{} { return &filledNumbers{X: "kept"} },
	func() interface{} { return &filledTimes{} },
	func() interface{} { return &filledSwitches{Kept: true} },
	func() interface{} { return &filledSites{} },
	func() interface{} { return &filledMaps{} },
	func() interface{} { return &filledPointers{&filledSite{}, new(string)} },
	func() interface{} { return &filledHidden{} },
	func() interface{} { return &filledOdd{} },
	func() interface{} { return &map[string]string{} },
}

var filledKeys = []string{
	"a", "B", "c", "D", "e", "F", "X", "-", "Wait", "Waits", "since", "day", "days", "On", "off", "All", "Kept", "Note",
	"main.at.Host", "main.at.port", "main.label.x", "main.label.y.z", "main.Admins", "Other.at.Host", "Other.at.port",
	"Other.label.größe", "at.Host", "at.port", "Name", "Texts.a", "Texts.b", "Texts.a.b", "list.odd", "list.even",
	"site.one.at.Host", "site.two.at.Host", "site.two.at.port", "site.two.label.x", "site.two.Admins", "limit.a.x",
	"limit.a.y", "limit.b.x", "limit", "Waits.long", "Texts", "Odd", "hidden",
}

// filledTexts are texts of each kind; the first three are what most fields of this kind can take.
var filledTexts = map[string][]string{
	"number": {"1", "0", "8", "-1", "64", "0x10", "1.5", "1e3", "", "none", " 7", "+3", "${a}", "300", "99999999999999999999"},
	"wait":   {"5s", "1h2m", "-1ms", "5", "", "never", "${a}m", "2015-01-02"},
	"since":  {"2015-01-02T12:34:56Z", "2015-01-02T12:34:56+01:00", "1999-12-31T23:59:59.5Z", "2022-11-23", "", "5s"},
	"day":    {"2022-11-23", "1970-01-01", "2024-02-29", "2023-02-29", "24.12.2022", "2015-01-02T12:34:56Z", ""},
	"days":   {"24.12.2022", " 24.12.2022;; 31.12.2022", ";", "2022-11-23", "24.12.2022;5s"},
	"switch": {"true", "yes", "ON", "1", "no", "off", "false", "0", "", "Yes", "yes ", "oui"},
	"list":   {"1;2", "1; ;3", " 8 ;;${a}", "a;b", " a ; b c ;", ";;", "", "yes;no;1", "a,b"},
	"text":   {"example.net", "", "http://${Note}/${e}", "${a}", "日本", "a=b:c", "${NOWHERE_AT_ALL}x", "%d%s"},
}

// filledKind is the kind of text that a key is for.
func filledKind(key string) string {
	switch {
	case strings.Contains("a B c D e F", key), strings.HasSuffix(key, "port"), strings.HasPrefix(key, "limit."):
		return "number"
	case strings.HasPrefix(key, "Wait"):
		return "wait"
	case key == "On", key == "off", key == "Kept":
		return "switch"
	case key == "All", strings.HasPrefix(key, "list."), strings.HasSuffix(key, "Admins"):
		return "list"
	case filledTexts[key] != nil:
		return key
	}
	return "text"
}

// filledSource draws the text of a file; in about half of them all values are of their key's kind.
func filledSource(r *rand.Rand) string {
	kinds := []string{"number", "wait", "since", "day", "days", "switch", "list", "text"}
	var lines []string
	wild, share := r.Intn(2) == 0, 5+r.Intn(6)
	for _, key := range filledKeys {
		if r.Intn(10) >= share {
			continue
		}
		kind := filledKind(key)
		if wild && r.Intn(10) == 0 {
			kind = kinds[r.Intn(len(kinds))]
		}
		texts := filledTexts[kind]
		if !wild || r.Intn(3) > 0 {
			texts = texts[:3]
		}
		value := texts[r.Intn(len(texts))]
		if key == "Note" || key == "e" || key == "a" { // no circles
			value = strings.NewReplacer("${Note}", "note", "${e}", "2", "${a}", "4").Replace(value)
		}
		lines = append(lines, key+"="+value)
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return strings.Join(lines, "\n")
}

// filledRefusal says why; where a map has several faults, chance decides which one is found first.
func filledRefusal(err error, x interface{}) string {
	if err == nil {
		return "accepted"
	}
	if _, ok := x.(*filledMaps); ok {
		for _, start := range []string{"missing required key ", "strconv.Parse", "parsing time ", "time: invalid duration ", "time: "} {
			if strings.HasPrefix(err.Error(), start) {
				return "refused"
			}
		}
	}
	return "refused: " + err.Error()
}

// filledText has all that is in a struct, by way of its pointers too.
func filledText(x interface{}) string {
	if v := reflect.ValueOf(x); v.Kind() == reflect.Ptr {
		if p, ok := x.(*filledPointers); ok {
			return fmt.Sprintf("%+v %q", *p.Site, *p.Name)
		}
		return fmt.Sprintf("%+v", v.Elem())
	}
	return fmt.Sprintf("%+v", x)
}

// TestFuzzStructs calls the code on drawn inputs, each of them twice, and writes down what it answers.
func TestFuzzStructs(t *testing.T) {
	r, call := drawnInputs(t)
	ErrorHandler = PanicHandler

	for i := 0; i < 400; i++ {
		text := filledSource(r)
		make := filledKinds[r.Intn(len(filledKinds))]
		if i%4 > 0 {
			make = filledKinds[i/4%5]
		}
		p, err := LoadString(text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		call("fill", fmt.Sprintf("%T %q", make(), text), func() string {
			x := make()
			refusal := filledRefusal(p.Decode(x), x)
			if refusal == "refused" {
				return refusal
			}
			return filledText(x) + " " + refusal
		})
		list := filledTexts["list"][r.Intn(len(filledTexts["list"]))]
		if i%9 == 0 {
			list = fmt.Sprintf("%s;%d", list, i)
		}
		call("elements", fmt.Sprintf("%q", list), func() string {
			return fmt.Sprintf("%q", split(list, ";"))
		})
		tag := []string{"", "-", "a", "a.b", "größe"}[r.Intn(5)]
		for n := r.Intn(4); n > 0; n-- {
			tag += []string{",default=1", ",default=", ",layout=2006-01-02", ",x", ",", ",default=a=b", ",=c"}[r.Intn(7)]
		}
		call("tag", fmt.Sprintf("%q", tag), func() string {
			key, opts := parseTag(tag)
			return fmt.Sprintf("%q %q", key, opts)
		})
	}
}
