package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"sort"
	"strconv"
	"strings"
)

// idle has variables that nothing ever changes and no compiler knows to be so.
type idle struct {
	job   *job
	drawn []idleVariable
}

type idleVariable struct {
	name, kind string
	number     int
}

func (i *idle) variable() idleVariable {
	chance := i.job.chance
	if len(i.drawn) > 3 && chance.Intn(3) > 0 {
		return i.drawn[chance.Intn(len(i.drawn))]
	}
	kinds := []string{"int", "uint8", "string", "bool", "[]int", "[]string", "int64"}
	made := idleVariable{i.job.names.fresh(), kinds[chance.Intn(len(kinds))], chance.Intn(40)}
	i.drawn = append(i.drawn, made)
	return made
}

func (v idleVariable) declaration() string {
	switch v.kind {
	case "int", "uint8", "int64":
		return fmt.Sprintf("var %s %s = %d", v.name, v.kind, v.number)
	case "string":
		return fmt.Sprintf("var %s = %q", v.name, strings.Repeat("-", v.number%3))
	}
	return fmt.Sprintf("var %s %s", v.name, v.kind)
}

// never is a condition that no run finds true, and the declaration of the variable that it reads.
func (i *idle) never() (string, string) {
	v := i.variable()
	above := v.number + 1 + i.job.chance.Intn(60)
	forms := map[string][]string{
		"int":      {"$0 > $1", "$0 == $1", "$0 < -$1", "$0 >= $1", "$0*2 > $2", "$1 < $0"},
		"int64":    {"$0 > $1", "$0 == $1", "$0 < -$1", "$0-$1 >= 0"},
		"uint8":    {"$0 > $1", "$0 == $1", "$0 >= $1"},
		"string":   {"len($0) > $1", "len($0) == $1+2", `$0 > "z"`, "len($0) > 2"},
		"bool":     {"$0", "$0 == true", "!(!$0)"},
		"[]int":    {"len($0) > $3", "cap($0) != 0", "$0 != nil"},
		"[]string": {"len($0) != 0", "len($0) > $3", "$0 != nil"},
	}[v.kind]
	form := forms[i.job.chance.Intn(len(forms))]
	return fill(form, v.name, above, 2*above, i.job.chance.Intn(9)), v.declaration()
}

// fill puts values for $0, $1, ... into a form.
func fill(form string, values ...interface{}) string {
	var pairs []string
	for i, value := range values {
		pairs = append(pairs, fmt.Sprintf("$%d", i), fmt.Sprint(value))
	}
	return strings.NewReplacer(pairs...).Replace(form)
}

func (w *work) never() string {
	condition, declaration := w.job.idle.never()
	w.declare(declaration)
	return condition
}

// fact is a condition on a variable at hand, true or false as it may be.
func (w *work) fact(at ast.Stmt) string {
	found := w.visible(at, func(kind types.Type) bool {
		_, slice := kind.Underlying().(*types.Slice)
		return slice || isBasic(kind, types.IsInteger|types.IsString|types.IsBoolean) || types.IsInterface(kind)
	})
	if len(found) == 0 {
		return w.one(w.never(), "!("+w.never()+")")
	}
	variable := found[w.drawn(len(found))]
	switch kind := variable.Type().Underlying().(type) {
	case *types.Basic:
		switch {
		case kind.Info()&types.IsString != 0:
			return fmt.Sprintf("len(%s) > %d", variable.Name(), w.drawn(7))
		case kind.Info()&types.IsInteger != 0:
			return fmt.Sprintf("%s > %d", variable.Name(), w.drawn(9))
		}
		return variable.Name()
	case *types.Interface:
		return variable.Name() + " " + w.one("==", "!=") + " nil"
	}
	return fmt.Sprintf("len(%s) > %d", variable.Name(), w.drawn(4))
}

func sameOnBothSides(w *work, name string, node ast.Node) {
	statement, ok := node.(ast.Stmt)
	if list, _ := w.list(node); !ok || list == nil || !closed(node) || node.End()-node.Pos() > 200 {
		return
	}
	switch inner := node.(type) {
	case *ast.ReturnStmt, *ast.IncDecStmt, *ast.ExprStmt:
	case *ast.AssignStmt:
		if inner.Tok == token.DEFINE {
			return
		}
	default:
		return
	}
	w.replace(name, node, func() string {
		text := w.source(node)
		return fmt.Sprintf("if %s {\n%s\n} else {\n%s\n}", w.fact(statement), text, text)
	})
}

// inertStatement puts one that never runs before another.
func inertStatement(w *work, name string, node ast.Node) {
	statement, ok := node.(ast.Stmt)
	if list, _ := w.list(node); !ok || list == nil {
		return
	}
	if branch, ok := node.(*ast.BranchStmt); ok && branch.Tok == token.FALLTHROUGH {
		return
	}
	w.add(name, node.Pos(), node.Pos(), func() string {
		condition := w.never()
		if w.drawn(3) == 0 {
			condition = w.one(fmt.Sprintf("(%s) && %s", w.fact(statement), condition), fmt.Sprintf("%s && (%s)", condition, w.fact(statement)))
		}
		return fmt.Sprintf("if %s {\n%s\n}\n", condition, w.harm(statement))
	})
}

// harm would change what a function does.
func (w *work) harm(at ast.Stmt) string {
	found := w.visible(at, func(kind types.Type) bool {
		return isBasic(kind, types.IsInteger|types.IsString|types.IsBoolean)
	})
	if len(found) > 0 && w.drawn(4) > 0 {
		variable := found[w.drawn(len(found))]
		switch {
		case isBasic(variable.Type(), types.IsBoolean):
			return fmt.Sprintf("%[1]s = !%[1]s", variable.Name())
		case isBasic(variable.Type(), types.IsString):
			return fill(w.one("$0 = $0[1:]", `$0 = ""`, "$0 += $1", "$0 = $1 + $0"), variable.Name(), strconv.Quote(w.word()))
		}
		return fill(w.one("$0++", "$0--", "$0 = 0", "$0 += 2", "$0 = -$0"), variable.Name())
	}
	if zero, ok := w.zeroReturn(at); ok && w.drawn(3) > 0 {
		return zero
	}
	return fmt.Sprintf("panic(%q)", w.word())
}

func (w *work) word() string { return w.job.names.words[w.drawn(len(w.job.names.words))] }

func (w *work) zeroReturn(at ast.Stmt) (string, bool) {
	results := w.signature(at).Results()
	var zeros []string
	for i := 0; i < results.Len(); i++ {
		kind := results.At(i).Type()
		switch {
		case isBasic(kind, types.IsString):
			zeros = append(zeros, strconv.Quote(""))
		case isBasic(kind, types.IsBoolean):
			zeros = append(zeros, w.one("true", "false"))
		case isBasic(kind, types.IsInteger|types.IsFloat):
			zeros = append(zeros, strconv.Itoa(w.drawn(3)))
		default:
			switch kind.Underlying().(type) {
			case *types.Interface, *types.Slice, *types.Map, *types.Pointer, *types.Signature, *types.Chan:
				zeros = append(zeros, "nil")
			case *types.Struct:
				if w.written(kind) == "" {
					return "", false
				}
				zeros = append(zeros, w.written(kind)+"{}")
			default:
				return "", false
			}
		}
	}
	return "return " + strings.Join(zeros, ", "), true
}

// addInertBodies gives touched functions the bodies of the functions of the same name in other texts.
func (j *job) addInertBodies(touched map[string]bool) {
	for _, hash := range j.file.Inert {
		j.addBodiesOf(withoutComments(j.all.get(hash), touched), touched)
	}
}

func (j *job) addBodiesOf(other []byte, touched map[string]bool) {
	theirs := bodiesOf(other)
	names := make([]string, 0, len(theirs))
	for name := range theirs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !touched[name] {
			continue
		}
		before := j.current[j.path]
		ours, ok := bodiesOf(before)[name]
		if !ok || ours.head != theirs[name].head { // one that is the same is added too: all have as many bodies
			continue
		}
		j.names.of(ours.node, theirs[name].node)
		condition, declaration := j.idle.never()
		body := j.relabelled(theirs[name].text)
		form := []string{
			"{\nif $0 $1 else $2\n}", "{\nif !($0) $2 else $1\n}", "{\nif $0 $1\n$3\n}",
			"{\nswitch {\ncase $0:\n$1\ndefault:\n$2\n}\n}",
		}[j.chance.Intn(4)]
		text := fill(form, condition, body, ours.text, ours.text[1:len(ours.text)-1])
		made := string(before[:ours.start]) + text + string(before[ours.end:])
		j.current[j.path] = withDeclarations(withImports(withLacking([]byte(made), other), other), []string{declaration})
		if _, err := j.check(j.path, j.current); err != nil {
			j.current[j.path] = before
			j.result.LostBodies++
		}
	}
}

// relabelled gives labels names of their own, since a function's labels are all in one scope.
func (j *job) relabelled(body string) string {
	head := "package x\nfunc f() "
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", head+body, 0)
	if err != nil {
		return body
	}
	renamed := map[string]string{}
	var spots []*ast.Ident
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.LabeledStmt:
			renamed[node.Label.Name] = j.names.fresh()
			spots = append(spots, node.Label)
		case *ast.BranchStmt:
			if node.Label != nil {
				spots = append(spots, node.Label)
			}
		}
		return true
	})
	sort.Slice(spots, func(a, b int) bool { return spots[a].Pos() > spots[b].Pos() })
	text := head + body
	for _, spot := range spots {
		at := files.Position(spot.Pos()).Offset
		text = text[:at] + renamed[spot.Name] + text[at+len(spot.Name):]
	}
	return strings.TrimPrefix(text, head)
}

type bodyText struct {
	node       *ast.FuncDecl
	head, text string
	start, end int
}

func bodiesOf(text []byte) map[string]bodyText {
	files := token.NewFileSet()
	found := map[string]bodyText{}
	file, err := parser.ParseFile(files, "", text, 0)
	if err != nil {
		return found
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Body == nil || function.Name.Name == "init" {
			continue
		}
		first := files.Position(function.Type.Func).Offset
		start, end := files.Position(function.Body.Pos()).Offset, files.Position(function.Body.End()).Offset
		found[qualified(function)] = bodyText{function, string(text[first:start]), string(text[start:end]), start, end}
	}
	return found
}

// withImports has those imports of the other text that this one lacks and uses.
func withImports(text, other []byte) []byte {
	files := token.NewFileSet()
	ours, err := parser.ParseFile(files, "", text, 0)
	theirs, err2 := parser.ParseFile(files, "", other, parser.ImportsOnly)
	if err != nil || err2 != nil {
		return text
	}
	known, used := map[string]bool{}, map[string]bool{}
	for _, spec := range ours.Imports {
		known[spec.Path.Value] = true
	}
	for _, unresolved := range ours.Unresolved {
		used[unresolved.Name] = true
	}
	added := ""
	for _, spec := range theirs.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		text := spec.Path.Value
		if spec.Name != nil {
			name = spec.Name.Name
			text = name + " " + text
		}
		if !known[spec.Path.Value] && used[name] {
			added += "; import " + text
		}
	}
	at := files.Position(ours.Name.End()).Offset
	return []byte(string(text[:at]) + added + string(text[at:]))
}
