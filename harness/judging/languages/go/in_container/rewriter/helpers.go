package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

const fewParameters = 4

// extract moves an expression into a function of its own, which the compiler may not inline.
func extract(w *work, name string, node ast.Node) {
	expression, ok := node.(ast.Expr)
	if !ok || !w.variable(expression) || !w.readable(expression) {
		return
	}
	result := w.info.TypeOf(expression)
	kind := w.written(result)
	if kind == "" || !isBasic(result, anyBasic) || !w.total(expression, !w.callsIn(w.statement(expression))) {
		return
	}
	used, ok := w.variables(expression)
	if !ok || len(used) == 0 || len(used) > fewParameters {
		return
	}
	w.replace(name, node, func() string { return w.extracted(expression, kind, used) })
}

func (w *work) extracted(expression ast.Expr, kind string, used []*types.Var) string {
	var parameters, arguments []string
	for _, variable := range used {
		parameters = append(parameters, variable.Name()+" "+w.written(variable.Type()))
		arguments = append(arguments, variable.Name())
	}
	w.job.chance.Shuffle(len(used), func(a, b int) {
		parameters[a], parameters[b] = parameters[b], parameters[a]
		arguments[a], arguments[b] = arguments[b], arguments[a]
	})
	helper, text := w.fresh(), w.source(expression)
	body := "return " + text
	if isBasic(w.info.TypeOf(expression), types.IsBoolean) {
		body = w.one(body, fmt.Sprintf("if %s {\nreturn true\n}\nreturn false", text),
			fmt.Sprintf("switch {\ncase %s:\nreturn false\n}\nreturn true", w.negated(expression)),
			fmt.Sprintf("if %s {\nreturn false\n} else {\nreturn true\n}", w.negated(expression)))
	}
	w.declare(fmt.Sprintf("//go:noinline\nfunc %s(%s) %s {\n%s\n}", helper, strings.Join(parameters, ", "), kind, body))
	return fmt.Sprintf("%s(%s)", helper, strings.Join(arguments, ", "))
}

// readable says whether an expression stands where any other value of its type could stand.
func (w *work) readable(expression ast.Expr) bool {
	switch parent := w.parents[expression].(type) {
	case *ast.BinaryExpr:
		return w.variable(parent) && parent.Op != token.SHL && parent.Op != token.SHR
	case *ast.ParenExpr, *ast.IfStmt:
		return true
	case *ast.UnaryExpr:
		return parent.Op == token.NOT
	case *ast.ForStmt:
		return parent.Cond == expression
	case *ast.AssignStmt:
		for i, target := range parent.Lhs {
			if len(parent.Rhs) == len(parent.Lhs) && parent.Rhs[i] == expression {
				return parent.Tok == token.DEFINE || isBasic(w.info.TypeOf(target), anyBasic) && w.source(target) != "_"
			}
		}
		return false
	case *ast.ReturnStmt:
		return w.isBasicResult(parent, expression)
	case *ast.CallExpr:
		return parent.Fun != expression && w.isBasicArgument(parent, expression)
	case *ast.IndexExpr:
		return parent.Index == expression
	}
	return false
}

func (w *work) isBasicResult(given *ast.ReturnStmt, expression ast.Expr) bool {
	results := w.signature(given).Results()
	for i, result := range given.Results {
		if result == expression && len(given.Results) == results.Len() {
			return isBasic(results.At(i).Type(), anyBasic)
		}
	}
	return false
}

func (w *work) signature(node ast.Node) *types.Signature {
	if function, ok := w.enclosing(node).(*ast.FuncLit); ok {
		return w.info.TypeOf(function).(*types.Signature)
	}
	return w.info.Defs[w.function.Name].Type().(*types.Signature)
}

func (w *work) isBasicArgument(call *ast.CallExpr, expression ast.Expr) bool {
	if w.info.Types[call.Fun].IsType() {
		return true
	}
	called, ok := w.info.TypeOf(call.Fun).(*types.Signature)
	if !ok || w.info.Types[call.Fun].IsBuiltin() {
		return false
	}
	for i, argument := range call.Args {
		if argument == expression && i < called.Params().Len() && !(called.Variadic() && i >= called.Params().Len()-1) {
			return isBasic(called.Params().At(i).Type(), anyBasic)
		}
	}
	return false
}

func (w *work) statement(node ast.Node) ast.Node {
	for up := w.parents[node]; up != nil; up = w.parents[up] {
		switch up := up.(type) {
		case *ast.IfStmt:
			return up.Cond
		case *ast.ForStmt:
			return up.Cond
		case *ast.SwitchStmt, *ast.RangeStmt, *ast.CaseClause:
			return up
		case ast.Stmt:
			return up
		}
	}
	return w.function
}

// callsIn says whether a statement calls anything but what `total` knows.
func (w *work) callsIn(node ast.Node) bool {
	found := false
	ast.Inspect(node, func(inner ast.Node) bool {
		if call, ok := inner.(*ast.CallExpr); ok && !(len(call.Args) == 1 && w.totalCall(call)) {
			found = true
		}
		return true
	})
	return found
}

// variables that an expression reads; not ok where it needs more than they can bring.
func (w *work) variables(expression ast.Expr) ([]*types.Var, bool) {
	var found []*types.Var
	seen := map[types.Object]bool{}
	good := true
	ast.Inspect(expression, func(node ast.Node) bool {
		ident, ok := node.(*ast.Ident)
		if !ok {
			return true
		}
		object := w.info.Uses[ident]
		variable, isVariable := object.(*types.Var)
		switch {
		case isVariable && variable.IsField():
		case isVariable && w.fixed[object]:
			if !seen[object] {
				seen[object] = true
				found = append(found, variable)
				good = good && w.written(variable.Type()) != ""
			}
		case object == nil || isVariable:
			good = false
		default: // a package's name and what belongs to one are the same everywhere
			parent := object.Parent()
			good = good && (parent == types.Universe || parent == w.pkg.Scope() || parent == nil || isImported(object))
		}
		return true
	})
	names := map[string]bool{}
	for _, variable := range found {
		good = good && !names[variable.Name()]
		names[variable.Name()] = true
	}
	return found, good
}

func isImported(object types.Object) bool {
	_, ok := object.(*types.PkgName)
	return ok || object.Pkg() != nil && object.Parent() == object.Pkg().Scope()
}

// updateByHelper: x += y is x = f(x, y).
func updateByHelper(w *work, name string, node ast.Node) {
	update, ok := node.(*ast.AssignStmt)
	if !ok || len(update.Lhs) != 1 {
		return
	}
	op, ok := map[token.Token]string{
		token.ADD_ASSIGN: "+", token.SUB_ASSIGN: "-", token.MUL_ASSIGN: "*", token.OR_ASSIGN: "|", token.AND_ASSIGN: "&",
	}[update.Tok]
	target, isName := update.Lhs[0].(*ast.Ident)
	if !ok || !isName || !w.fixed[w.info.Uses[target]] {
		return
	}
	kind := w.written(w.info.TypeOf(target))
	if kind == "" || !isBasic(w.info.TypeOf(target), types.IsInteger) { // strings may be put together on the stack
		return
	}
	w.replace(name, node, func() string {
		helper, first, second := w.fresh(), w.fresh(), w.fresh()
		w.declare(fmt.Sprintf("//go:noinline\nfunc %s(%s, %s %s) %s {\nreturn %s %s %s\n}", helper, first, second, kind, kind, first, op, second))
		return fmt.Sprintf("%s = %s(%s, %s)", target.Name, helper, target.Name, w.source(update.Rhs[0]))
	})
}

// storeByPointer sets a field of a local struct.
func storeByPointer(w *work, name string, node ast.Node) {
	store, ok := node.(*ast.AssignStmt)
	if !ok || store.Tok != token.ASSIGN || len(store.Lhs) != 1 || len(store.Rhs) != 1 {
		return
	}
	field, ok := store.Lhs[0].(*ast.SelectorExpr)
	if !ok || !w.total(field, false) || !w.total(store.Rhs[0], false) {
		return
	}
	kind := w.written(w.info.TypeOf(field))
	if kind == "" || !isBasic(w.info.TypeOf(field), anyBasic) {
		return
	}
	w.replace(name, node, func() string {
		helper, place, value := w.fresh(), w.fresh(), w.fresh()
		w.declare(fmt.Sprintf("//go:noinline\nfunc %s(%s *%s, %s %s) {\n*%s = %s\n}", helper, place, kind, value, kind, place, value))
		return fmt.Sprintf("%s(&%s, %s)", helper, w.source(field), w.source(store.Rhs[0]))
	})
}

// callByVariable calls a function of another package through a variable, so no frame is added.
func callByVariable(w *work, name string, node ast.Node) {
	call, ok := node.(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || w.info.Selections[selector] != nil {
		return
	}
	function, ok := w.info.Uses[selector.Sel].(*types.Func)
	if !ok {
		return
	}
	called := function.Type().(*types.Signature)
	if called.Variadic() || called.TypeParams().Len() > 0 || called.Recv() != nil || contains(special, function.Pkg().Path()) {
		return
	}
	for i := 0; i < called.Params().Len(); i++ {
		if !isBasic(called.Params().At(i).Type(), anyBasic) { // a pointer would escape, and be allocated
			return
		}
	}
	w.replace(name, selector, func() string {
		through := w.fresh()
		w.declare(fmt.Sprintf("var %s = %s", through, w.source(selector)))
		return through
	})
}

// What the compiler treats as its own.
var special = []string{"runtime", "unsafe", "reflect", "math", "math/bits", "sync/atomic", "runtime/debug"}

func literalByVariable(w *work, name string, node ast.Node) {
	literal, ok := node.(*ast.BasicLit)
	if !ok {
		return
	}
	kind := w.written(w.info.TypeOf(literal))
	if kind == "" || !isBasic(w.info.TypeOf(literal), types.IsInteger|types.IsString) || !w.readable(literal) || w.boxed(literal) {
		return
	}
	if operator, ok := w.parents[literal].(*ast.BinaryExpr); ok && (operator.Op == token.QUO || operator.Op == token.REM) {
		return
	}
	w.replace(name, node, func() string {
		variable := w.fresh()
		w.declare(fmt.Sprintf("var %s %s = %s", variable, kind, literal.Value))
		return variable
	})
}

// boxed: compared with an interface, a variable would be converted.
func (w *work) boxed(literal *ast.BasicLit) bool {
	operator, ok := w.parents[literal].(*ast.BinaryExpr)
	return ok && (types.IsInterface(w.info.TypeOf(operator.X)) || types.IsInterface(w.info.TypeOf(operator.Y)))
}
