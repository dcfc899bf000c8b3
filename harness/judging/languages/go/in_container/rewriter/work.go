package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
)

func dir(path string) string { return filepath.Dir(path) }

func copied(texts map[string][]byte) map[string][]byte {
	made := map[string][]byte{}
	for path, text := range texts {
		made[path] = text
	}
	return made
}

// site is where a rule applies; text makes what stands there afterwards, or nothing where it thinks better of it.
type site struct {
	start, end int
	text       func() string
}

// work is one function in one round, with what is known of it.
type work struct {
	*checked
	job      *job
	function *ast.FuncDecl
	parents  map[ast.Node]ast.Node
	fixed    map[types.Object]bool
	owner    map[types.Object]ast.Node
	found    map[string][]site
}

func newWork(j *job, state *checked, function *ast.FuncDecl) *work {
	w := &work{checked: state, job: j, function: function, parents: map[ast.Node]ast.Node{}, found: map[string][]site{}}
	var stack []ast.Node
	ast.Inspect(function, func(node ast.Node) bool {
		if node == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if len(stack) > 0 {
			w.parents[node] = stack[len(stack)-1]
		}
		stack = append(stack, node)
		return true
	})
	w.findFixed()
	j.names.of(function)
	return w
}

// candidates are the sites of each rule, in the order of the text.
func (w *work) candidates(rules []string) map[string][]site {
	ast.Inspect(w.function, func(node ast.Node) bool {
		for _, rule := range catalogue {
			if node != nil && (len(rules) == 0 || contains(rules, rule.name)) {
				rule.find(w, rule.name, node)
			}
		}
		return true
	})
	return w.found
}

func (w *work) add(rule string, start, end token.Pos, text func() string) {
	w.found[rule] = append(w.found[rule], site{w.offset(start), w.offset(end), text})
}

func (w *work) replace(rule string, node ast.Node, text func() string) {
	w.add(rule, node.Pos(), node.End(), text)
}

func (w *work) source(node ast.Node) string {
	return w.between(node.Pos(), node.End())
}

func (w *work) between(start, end token.Pos) string {
	return string(w.text[w.offset(start):w.offset(end)])
}

func (w *work) declare(text string) {
	w.job.declare = append(w.job.declare, text)
}

func (w *work) fresh() string { return w.job.names.fresh() }

func (w *work) drawn(count int) int { return w.job.chance.Intn(count) }

func (w *work) one(forms ...string) string { return forms[w.drawn(len(forms))] }

// findFixed finds the variables that only statements of this function can change, one after the other: no closure
// holds them, and nothing has their address.
func (w *work) findFixed() {
	w.fixed = map[types.Object]bool{}
	w.owner = map[types.Object]ast.Node{}
	open := map[types.Object]bool{}
	ast.Inspect(w.function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			if object, ok := w.info.Defs[node].(*types.Var); ok && !object.IsField() {
				w.fixed[object] = true
				w.owner[object] = w.enclosing(node)
			}
			if object := w.info.Uses[node]; object != nil && w.owner[object] != nil && w.enclosing(node) != w.owner[object] {
				open[object] = true
			}
		case *ast.UnaryExpr:
			if node.Op == token.AND {
				w.openRoot(node.X, open)
			}
		case *ast.SliceExpr:
			if _, array := w.info.TypeOf(node.X).Underlying().(*types.Array); array {
				w.openRoot(node.X, open)
			}
		case *ast.SelectorExpr:
			if chosen := w.info.Selections[node]; chosen != nil && chosen.Kind() == types.MethodVal {
				w.openRoot(node.X, open)
			}
		}
		return true
	})
	for object := range open {
		delete(w.fixed, object)
	}
}

func (w *work) openRoot(expression ast.Expr, open map[types.Object]bool) {
	for {
		switch inner := expression.(type) {
		case *ast.ParenExpr:
			expression = inner.X
		case *ast.SelectorExpr:
			expression = inner.X
		case *ast.IndexExpr:
			expression = inner.X
		case *ast.Ident:
			if object := w.info.Uses[inner]; object != nil {
				open[object] = true
			}
			return
		default:
			return
		}
	}
}

// enclosing is the function or closure that a node stands in.
func (w *work) enclosing(node ast.Node) ast.Node {
	for up := w.parents[node]; up != nil; up = w.parents[up] {
		switch up.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return up
		}
	}
	return w.function
}

// total says whether an expression always has a value, the same one however often and wherever in its statement it is
// evaluated. With partial it may panic, and read what elements hold.
func (w *work) total(expression ast.Expr, partial bool) bool {
	if value, ok := w.info.Types[expression]; ok && value.Value != nil {
		return true
	}
	switch node := expression.(type) {
	case *ast.ParenExpr:
		return w.total(node.X, partial)
	case *ast.Ident:
		if object := w.info.Uses[node]; object != nil {
			_, null := object.(*types.Nil)
			return null || w.fixed[object]
		}
	case *ast.SelectorExpr:
		chosen := w.info.Selections[node]
		return chosen != nil && chosen.Kind() == types.FieldVal && !chosen.Indirect() && w.total(node.X, partial)
	case *ast.UnaryExpr:
		return (node.Op == token.NOT || node.Op == token.SUB || node.Op == token.ADD) && w.total(node.X, partial)
	case *ast.BinaryExpr:
		return w.totalOperator(node) && w.total(node.X, partial) && w.total(node.Y, partial)
	case *ast.CallExpr:
		return len(node.Args) == 1 && w.total(node.Args[0], partial) && w.totalCall(node)
	case *ast.IndexExpr:
		return partial && w.indexed(node.X) && w.total(node.X, partial) && w.total(node.Index, partial)
	case *ast.SliceExpr:
		return partial && isBasic(w.info.TypeOf(node.X), types.IsString) && w.total(node.X, partial) &&
			(node.Low == nil || w.total(node.Low, partial)) && (node.High == nil || w.total(node.High, partial))
	}
	return false
}

func (w *work) indexed(expression ast.Expr) bool {
	switch kind := w.info.TypeOf(expression).Underlying().(type) {
	case *types.Slice:
		return true
	case *types.Basic:
		return kind.Info()&types.IsString != 0
	}
	return false
}

func (w *work) totalOperator(node *ast.BinaryExpr) bool {
	switch node.Op {
	case token.LAND, token.LOR:
		return true
	case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR:
		return isBasic(w.info.TypeOf(node), types.IsInteger) // of strings, it may allocate
	case token.EQL, token.NEQ:
		return w.comparesWithNil(node) || isBasic(w.info.TypeOf(node.X), anyBasic) && isBasic(w.info.TypeOf(node.Y), anyBasic)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

func (w *work) comparesWithNil(node *ast.BinaryExpr) bool {
	return w.info.Types[node.X].IsNil() || w.info.Types[node.Y].IsNil()
}

// totalCall takes len, cap, and conversions between numbers.
func (w *work) totalCall(call *ast.CallExpr) bool {
	if w.info.Types[call.Fun].IsType() {
		const numbers = types.IsInteger | types.IsFloat
		return isBasic(w.info.TypeOf(call), numbers) && isBasic(w.info.TypeOf(call.Args[0]), numbers)
	}
	name, ok := call.Fun.(*ast.Ident)
	if !ok || w.info.Types[call.Fun].IsBuiltin() == false {
		return false
	}
	return name.Name == "len" || name.Name == "cap"
}

const anyBasic = types.IsBoolean | types.IsInteger | types.IsFloat | types.IsString

// isBasic takes types whose values are numbers, strings or booleans of these kinds.
func isBasic(kind types.Type, wanted types.BasicInfo) bool {
	if kind == nil {
		return false
	}
	if _, parameter := kind.(*types.TypeParam); parameter {
		return false
	}
	basic, ok := kind.Underlying().(*types.Basic)
	return ok && basic.Info()&wanted != 0 && basic.Kind() != types.UnsafePointer
}

// written is a type as it can be written anywhere in this file, or nothing.
func (w *work) written(kind types.Type) string {
	good := true
	switch kind := kind.(type) {
	case *types.Basic:
		if kind.Info()&types.IsUntyped != 0 || kind.Kind() == types.Invalid || kind.Kind() == types.UnsafePointer {
			return ""
		}
	case *types.Named:
		if kind.TypeArgs().Len() > 0 || kind.Obj().Parent() != types.Universe && kind.Obj().Parent() != kind.Obj().Pkg().Scope() {
			return ""
		}
	case *types.Slice:
		if inner := w.written(kind.Elem()); inner != "" {
			return "[]" + inner
		}
		return ""
	default:
		return ""
	}
	text := types.TypeString(kind, func(other *types.Package) string {
		if other == w.pkg {
			return ""
		}
		for _, spec := range w.file.Imports {
			name, _ := w.info.Implicits[spec].(*types.PkgName)
			if spec.Name != nil {
				name, _ = w.info.Defs[spec.Name].(*types.PkgName)
			}
			if name != nil && name.Imported() == other && name.Name() != "." && name.Name() != "_" {
				return name.Name()
			}
		}
		good = false
		return ""
	})
	if !good {
		return ""
	}
	return text
}

// visible are the variables that can be read before a statement, those that only this function changes.
func (w *work) visible(at ast.Stmt, fits func(types.Type) bool) []*types.Var {
	scope := w.pkg.Scope().Innermost(at.Pos())
	owner := w.enclosing(at)
	var found []*types.Var
	seen := map[string]bool{}
	for ; scope != nil && scope != w.pkg.Scope(); scope = scope.Parent() {
		names := scope.Names()
		sort.Strings(names)
		for _, name := range names {
			object := scope.Lookup(name)
			if seen[name] || object.Pos() >= at.Pos() {
				continue
			}
			seen[name] = true
			variable, ok := object.(*types.Var)
			if ok && w.fixed[object] && w.owner[object] == owner && fits(object.Type()) {
				found = append(found, variable)
			}
		}
	}
	return found
}

func (w *work) constant(expression ast.Expr) (int64, bool) {
	value := w.info.Types[expression].Value
	if value == nil || value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(value)
}

// list is the statement list that a node stands in, and where; nothing if it stands elsewhere. The clauses of a switch
// are no such list: what is put before one ends the one above it.
func (w *work) list(node ast.Node) ([]ast.Stmt, int) {
	var statements []ast.Stmt
	switch node.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return nil, 0
	}
	switch parent := w.parents[node].(type) {
	case *ast.BlockStmt:
		statements = parent.List
	case *ast.CaseClause:
		statements = parent.Body
	case *ast.CommClause:
		statements = parent.Body
	}
	for i, statement := range statements {
		if statement == node {
			return statements, i
		}
	}
	return nil, 0
}
