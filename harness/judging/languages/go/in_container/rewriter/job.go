package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"math/rand"
	"sort"
	"strings"
)

const (
	fewest, most  = 25, 80
	forShort      = 10
	forStatement  = 5
	rounds        = 6
	longest       = 60_000
	longestChange = 4_000
)

// job rewrites one file. Each round takes the text as the last one left it.
type job struct {
	*checker
	all     *texts
	path    string
	file    source
	current map[string][]byte
	chance  *rand.Rand
	result  *outcome
	names   *names
	idle    *idle
	declare []string
}

// change replaces the bytes of the current text from start up to end.
type change struct {
	rule       string
	start, end int
	text       string
	declare    []string
}

func newJob(c *checker, all *texts, path string, file source, current map[string][]byte, chance *rand.Rand, result *outcome) *job {
	taken := map[string]bool{}
	for name := range c.known(dir(path)) {
		taken[name] = true
	}
	for _, text := range current {
		addWords(taken, text)
	}
	for _, hash := range file.Family {
		addWords(taken, all.get(hash))
	}
	j := &job{checker: c, all: all, path: path, file: file, current: copied(current), chance: chance, result: result}
	j.names = &names{chance: chance, taken: taken}
	j.idle = &idle{job: j}
	return j
}

// run gives the file's new text. Without a touched function it is only printed anew.
func (j *job) run(rules []string) []byte {
	touched := touchedFunctions(j.texts())
	j.current[j.path] = withoutComments(j.current[j.path], touched)
	j.addInertBodies(touched)
	wanted := map[string]int{}
	left := map[string]int{}
	for round := 0; round < rounds; round++ {
		state, err := j.check(j.path, j.current)
		if err != nil {
			break
		}
		var changes []change
		for _, declared := range state.file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || function.Body == nil || !touched[qualified(function)] {
				continue
			}
			name := qualified(function)
			if round == 0 {
				wanted[name] = j.target(function)
				left[name] = wanted[name]
			}
			quota := (left[name] + rounds - round - 1) / (rounds - round)
			found := j.changesOf(state, function, rules, quota)
			left[name] -= len(found)
			changes = append(changes, found...)
		}
		j.apply(changes)
	}
	text, err := format.Source(j.current[j.path])
	if err != nil {
		return j.current[j.path]
	}
	return text
}

// target is how many rules a function gets: for each of its bodies 25 to 80, or as many as a short one has room for.
func (j *job) target(function *ast.FuncDecl) int {
	statements := 0
	ast.Inspect(function.Body, func(node ast.Node) bool {
		if _, ok := node.(ast.Stmt); ok {
			statements++
		}
		return true
	})
	drawn := (fewest + j.chance.Intn(most-fewest+1)) * (1 + len(j.file.Inert))
	if room := forShort + forStatement*statements; drawn > room {
		return room
	}
	return drawn
}

func (j *job) changesOf(state *checked, function *ast.FuncDecl, rules []string, quota int) []change {
	w := newWork(j, state, function)
	byRule := w.candidates(rules)
	names := make([]string, 0, len(byRule))
	for name := range byRule {
		names = append(names, name)
	}
	sort.Strings(names)
	var chosen []change
	for tries := 0; len(chosen) < quota && len(names) > 0 && tries < 6*quota; tries++ {
		at := j.chance.Intn(len(names))
		sites := byRule[names[at]]
		if len(sites) == 0 {
			names = append(names[:at], names[at+1:]...)
			continue
		}
		pick := j.chance.Intn(len(sites))
		spot := sites[pick]
		byRule[names[at]] = append(append([]site{}, sites[:pick]...), sites[pick+1:]...)
		if len(j.current[j.path]) > longest || spot.end-spot.start > longestChange || overlaps(chosen, spot.start, spot.end) {
			continue
		}
		before := len(j.declare)
		if text := spot.text(); text != "" {
			made := append([]string{}, j.declare[before:]...)
			chosen = append(chosen, change{names[at], spot.start, spot.end, text, made})
		}
		j.declare = j.declare[:before]
	}
	return chosen
}

func overlaps(changes []change, start, end int) bool {
	for _, other := range changes {
		if start < other.end && other.start < end || start == other.start && end == other.end || start == end && other.start < start && start < other.end {
			return true
		}
	}
	return false
}

// apply leaves out what would not compile.
func (j *job) apply(changes []change) {
	before := j.current[j.path]
	kept := changes
	if !j.accepted(before, changes) {
		kept = j.acceptable(before, nil, changes)
		j.result.Dropped += len(changes) - len(kept)
		if !j.accepted(before, kept) {
			j.current[j.path] = before
			return
		}
	}
	for _, made := range kept {
		j.result.Rules[made.rule]++
	}
}

// acceptable are those of more that compile together with sure, which do.
func (j *job) acceptable(before []byte, sure, more []change) []change {
	if len(more) == 0 || j.accepted(before, append(append([]change{}, sure...), more...)) {
		return append(sure, more...)
	}
	if len(more) == 1 {
		return sure
	}
	sure = j.acceptable(before, sure, more[:len(more)/2])
	return j.acceptable(before, sure, more[len(more)/2:])
}

func (j *job) accepted(before []byte, changes []change) bool {
	j.current[j.path] = j.with(before, changes)
	_, err := j.check(j.path, j.current)
	return err == nil
}

func (j *job) with(text []byte, changes []change) []byte {
	sorted := append([]change{}, changes...)
	sort.SliceStable(sorted, func(a, b int) bool {
		return sorted[a].start < sorted[b].start || sorted[a].start == sorted[b].start && sorted[a].end < sorted[b].end
	})
	var made bytes.Buffer
	at := 0
	for _, item := range sorted {
		made.Write(text[at:item.start])
		made.WriteString(item.text)
		at = item.end
	}
	made.Write(text[at:])
	var declare []string
	for _, item := range sorted {
		declare = append(declare, item.declare...)
	}
	return withDeclarations(made.Bytes(), declare)
}

// withDeclarations ends in those declarations that the text does not have yet.
func withDeclarations(text []byte, declare []string) []byte {
	for _, declared := range declare {
		if line := "\n" + declared + "\n"; !bytes.Contains(text, []byte(line)) {
			text = append(text, line...)
		}
	}
	return text
}

func (j *job) texts() [][]byte {
	all := [][]byte{j.current[j.path]}
	for _, hash := range j.file.Family {
		all = append(all, j.all.get(hash))
	}
	return all
}

// touchedFunctions are those whose text is not the same in all texts, or that some of them lack.
func touchedFunctions(all [][]byte) map[string]bool {
	seen := map[string]map[string]int{}
	for _, text := range all {
		for name, function := range functionsOf(text) {
			if seen[name] == nil {
				seen[name] = map[string]int{}
			}
			seen[name][function]++
		}
	}
	touched := map[string]bool{}
	for name, forms := range seen {
		for _, count := range forms {
			touched[name] = len(forms) > 1 || count < len(all)
		}
	}
	return touched
}

func functionsOf(text []byte) map[string]string {
	files := token.NewFileSet()
	found := map[string]string{}
	file, err := parser.ParseFile(files, "", text, 0)
	if err != nil {
		return found
	}
	for _, declared := range file.Decls {
		if function, ok := declared.(*ast.FuncDecl); ok {
			start, end := files.Position(function.Pos()).Offset, files.Position(function.End()).Offset
			found[qualified(function)] += string(text[start:end])
		}
	}
	return found
}

// qualified is Type.Name for a method.
func qualified(function *ast.FuncDecl) string {
	name := function.Name.Name
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return name
	}
	receiver := function.Recv.List[0].Type
	for {
		switch inner := receiver.(type) {
		case *ast.StarExpr:
			receiver = inner.X
		case *ast.ParenExpr:
			receiver = inner.X
		case *ast.IndexExpr:
			receiver = inner.X
		case *ast.IndexListExpr:
			receiver = inner.X
		case *ast.Ident:
			return inner.Name + "." + name
		default:
			return name
		}
	}
}

// withoutComments takes those in touched functions away: what is put between statements would carry them about.
func withoutComments(text []byte, touched map[string]bool) []byte {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments)
	if err != nil {
		return text
	}
	kept := file.Comments[:0:0]
	for _, group := range file.Comments {
		if !insideTouched(file, group, touched) {
			kept = append(kept, group)
		}
	}
	file.Comments = kept
	var made strings.Builder
	if printer.Fprint(&made, files, file) != nil {
		return text
	}
	return []byte(made.String())
}

func insideTouched(file *ast.File, group *ast.CommentGroup, touched map[string]bool) bool {
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if ok && function.Body != nil && touched[qualified(function)] && function.Body.Pos() < group.Pos() && group.End() <= function.Body.End() {
			return true
		}
	}
	return false
}
