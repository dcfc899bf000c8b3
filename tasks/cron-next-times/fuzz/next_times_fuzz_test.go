package cron

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"
)

// fuzzParts are texts for each place of a schedule, seconds first.
var fuzzParts = [6][]string{
	{"0", "*", "15", "*/20", "5/25", "30-40", "59"},
	{"0", "*", "?", "5", "*/15", "7/20", "10-12", "10-40/7", "3,9,58", "59", "0-59", "*/1", "*/59", "09"},
	{"0", "*", "6", "*/5", "9/4", "22-23", "1-20/6", "2,14", "23", "0-23", "2", "12-12"},
	{"*", "?", "1", "15", "29", "30", "31", "*/2", "10/10", "28-31", "1,31", "*/1", "1-31"},
	{"*", "?", "2", "4", "jan", "Feb", "DEC", "*/3", "6/4", "nov-DEC", "4,9,11", "2", "feb"},
	{"*", "?", "0", "mon", "Sat", "SUN-TUE", "1-5", "*/2", "3/2", "fri,0", "6", "Mon-fri/2"},
}

var fuzzWrong = []string{
	"60", "24", "32", "13", "7", "-1", "0", "x", "5-3", "1-2-3", "*/0", "*/-2", "1/2/3", "*/x", "100", "99-1", "febr", "mon-", "-",
	"1,,2", ",", "a,5", "1-99", "*-3", "5/100", "?/2", "+3", "1.5", "2147483648", "99999999999999999999", "Jan", "1-Mar", "*/64",
}

var fuzzDescriptors = []string{
	"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@every 1h30m", "@every 90s", "@every 1.5s",
	"@every 300ms", "@every 0s", "@every -5m", "@every 25h0m1.999s", "@every", "@every  5m", "@every soon", "@never", "@", "@Daily",
	"@every 1", "@reboot", "@hourly ", "@every 2562047h",
}

var fuzzZones = []string{
	"TZ=UTC", "CRON_TZ=Asia/Tokyo", "TZ=America/New_York", "TZ=America/Sao_Paulo", "CRON_TZ=Europe/Berlin", "TZ=Nowhere",
	"TZ=", "CRON_TZ=Australia/Lord_Howe", "TZ=Local",
}

func fuzzFields(r *rand.Rand, first, last int, wrong bool) []string {
	var fields []string
	for i := first; i < last; i++ {
		part := fuzzParts[i][r.Intn(len(fuzzParts[i]))]
		if r.Intn(3) == 0 {
			part = fuzzParts[i][0]
		}
		if r.Intn(6) == 0 {
			part += "," + fuzzParts[i][r.Intn(len(fuzzParts[i]))]
		}
		if wrong && r.Intn(4) == 0 {
			part = fuzzWrong[r.Intn(len(fuzzWrong))]
		}
		fields = append(fields, part)
	}
	return fields
}

func fuzzSpec(r *rand.Rand, first, last int) string {
	spec := strings.Join(fuzzFields(r, first, last, r.Intn(4) == 0), []string{" ", " ", "  ", "\t"}[r.Intn(4)])
	switch r.Intn(20) {
	case 0, 1, 2:
		spec = fuzzDescriptors[r.Intn(len(fuzzDescriptors))]
	case 3:
		spec += " *"
	case 4:
		spec = strings.TrimSuffix(spec, " *")
	case 5:
		spec = ""
	}
	if r.Intn(3) == 0 {
		spec = fuzzZones[r.Intn(len(fuzzZones))] + " " + spec
	}
	return spec
}

// fuzzTime draws a time, often close to one at which summer time begins or ends, or to the end of a year.
func fuzzTime(r *rand.Rand, zones []*time.Location) time.Time {
	zone := zones[r.Intn(len(zones))]
	t := time.Date(1890+r.Intn(230), time.Month(1+r.Intn(12)), 1+r.Intn(31), r.Intn(24), r.Intn(60), r.Intn(60), 0, zone)
	switch r.Intn(4) {
	case 0:
		t = time.Date(2010+r.Intn(12), []time.Month{3, 4, 10, 11}[r.Intn(4)], 1+r.Intn(31), r.Intn(4), 30*r.Intn(2), 0, 0, zone)
	case 1:
		t = time.Date(2010+r.Intn(12), 12, 31, 23, 59, 55+r.Intn(5), 0, zone)
	}
	if r.Intn(3) == 0 {
		t = t.Add(time.Duration(r.Intn(1e9)))
	}
	return t
}

func fuzzNext(schedule Schedule, t time.Time) string {
	var told []string
	for i := 0; i < 4; i++ {
		if t = schedule.Next(t); t.IsZero() {
			return strings.Join(append(told, fmt.Sprint("never ", t)), ", ")
		}
		told = append(told, t.Format(time.RFC3339Nano)+" "+t.Location().String())
	}
	return strings.Join(told, ", ")
}

// TestFuzzNextTimes calls the code on drawn inputs, each of them twice, and writes down what it answers.
func TestFuzzNextTimes(t *testing.T) {
	r, call := drawnInputs(t)
	zones := []*time.Location{time.UTC, time.Local, time.FixedZone("half", 5*3600+1800)}
	for _, name := range []string{"America/New_York", "America/Sao_Paulo", "Asia/Tokyo", "Australia/Lord_Howe"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}

	next := func(name string, parse func(string) (Schedule, error), spec string, from time.Time) {
		call(name, fmt.Sprintf("%q, %v", spec, from), func() string {
			schedule, err := parse(spec)
			if err != nil {
				return fmt.Sprintf("refused: %v %v", err, schedule)
			}
			return fmt.Sprintf("%T %s", schedule, fuzzNext(schedule, from))
		})
	}
	days := NewParser(Dom | Month | DowOptional)
	seconds := NewParser(SecondOptional | Minute | Hour | Dom | Month | Dow | Descriptor)

	for i := 0; i < 500; i++ {
		from := fuzzTime(r, zones)
		next("standard", ParseStandard, fuzzSpec(r, 1, 6), from)
		next("seconds", seconds.Parse, fuzzSpec(r, r.Intn(2), 6), from)
		if i%4 == 0 {
			next("days", days.Parse, fuzzSpec(r, 3, 5+r.Intn(2)), from)
		}
		delay := time.Duration(r.Int63n(int64(100 * time.Hour)))
		if i%3 == 0 {
			delay = time.Duration(r.Intn(5e9) - 1e9)
		}
		call("every", fmt.Sprintf("%v, %v", delay, from), func() string {
			return fmt.Sprintf("%v %s", Every(delay).Delay, fuzzNext(Every(delay), from))
		})
	}
}
