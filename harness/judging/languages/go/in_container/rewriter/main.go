// Rewrites functions of Go packages by seed, so that other machine code behaves the same.
//
// rewriter PLAN TEXTS OUT, in the work tree. PLAN is JSON (see plan); TEXTS has each text in a file named by its hash.
// OUT gets an outcome for each variant, as JSON. It reads and type-checks packages and runs nothing of them.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
)

// source is one file of a variant; texts are named by their hashes.
type source struct {
	Code   string   `json:"code"`
	Family []string `json:"family"`
	Inert  []string `json:"inert"`
}

// variant without a seed is only checked. Rules are those that may be used, none for all: tests try each alone.
type variant struct {
	Name  string            `json:"name"`
	Seed  *int64            `json:"seed"`
	Files map[string]source `json:"files"`
	Rules []string          `json:"rules"`
}

type plan struct {
	Variants []variant `json:"variants"`
}

// outcome has the texts to compile. Error is what is wrong with the texts as they were given, before any rewriting.
// Dropped counts edits that would not have compiled, LostBodies inert ones.
type outcome struct {
	Files      map[string]string `json:"files"`
	Rules      map[string]int    `json:"rules"`
	Dropped    int               `json:"dropped"`
	LostBodies int               `json:"lost_bodies"`
	Error      string            `json:"error"`
}

type texts struct {
	folder string
	known  map[string][]byte
}

func (t *texts) get(hash string) []byte {
	if text, ok := t.known[hash]; ok {
		return text
	}
	text, err := os.ReadFile(filepath.Join(t.folder, filepath.Base(hash)))
	if err != nil {
		fail(err)
	}
	t.known[hash] = text
	return text
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	var wanted plan
	data, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(data, &wanted)
	}
	if err != nil {
		fail(err)
	}
	all := &texts{os.Args[2], map[string][]byte{}}
	checks := newChecker(wanted, all)
	outcomes := map[string]*outcome{}
	for _, item := range wanted.Variants {
		outcomes[item.Name] = rewriteVariant(checks, all, item)
	}
	data, err = json.Marshal(outcomes)
	if err == nil {
		err = os.WriteFile(os.Args[3], data, 0o644)
	}
	if err != nil {
		fail(err)
	}
}

func rewriteVariant(checks *checker, all *texts, item variant) *outcome {
	result := &outcome{Files: map[string]string{}, Rules: map[string]int{}}
	current := map[string][]byte{}
	for path, file := range item.Files {
		current[path] = all.get(file.Code)
	}
	paths := make([]string, 0, len(current))
	for path := range current {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		if _, err := checks.check(path, current); err != nil {
			result.Error = err.Error()
			return result
		}
	}
	for _, path := range paths {
		if item.Seed != nil {
			chance := rand.New(rand.NewSource(*item.Seed + int64(len(result.Files))*7919))
			job := newJob(checks, all, path, item.Files[path], current, chance, result)
			current[path] = job.run(item.Rules)
		}
		result.Files[path] = string(current[path])
	}
	return result
}
