package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

type rule struct {
	name string
	find func(w *work, name string, node ast.Node)
}

// catalogue has the rules in the order in which the documentation names them.
var catalogue = []rule{
	{"negate-comparison", negateComparison},
	{"move-bound", moveBound},
	{"measure-string", measureString},
	{"reorder-operands", reorderOperands},
	{"flip-branches", flipBranches},
	{"empty-branch", emptyBranch},
	{"turn-guard", turnGuard},
	{"split-condition", splitCondition},
	{"return-early", returnEarly},
	{"nest-else", nestElse},
	{"switch-to-if", switchToIf},
	{"if-to-switch", ifToSwitch},
	{"shuffle-cases", shuffleCases},
	{"break-in-loop", breakInLoop},
	{"test-at-end", testAtEnd},
	{"loop-by-goto", loopByGoto},
	{"range-by-index", rangeByIndex},
	{"extract", extract},
	{"update-by-helper", updateByHelper},
	{"store-by-pointer", storeByPointer},
	{"call-by-variable", callByVariable},
	{"literal-by-variable", literalByVariable},
	{"same-on-both-sides", sameOnBothSides},
	{"inert-statement", inertStatement},
}

var opposite = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
}

func unparen(expression ast.Expr) ast.Expr {
	for {
		inner, ok := expression.(*ast.ParenExpr)
		if !ok {
			return expression
		}
		expression = inner.X
	}
}

// ordered says whether a comparison has an opposite: floating-point numbers have none.
func (w *work) ordered(node *ast.BinaryExpr) bool {
	if node.Op == token.EQL || node.Op == token.NEQ {
		return true
	}
	const kinds = types.IsInteger | types.IsString
	return isBasic(w.info.TypeOf(node.X), kinds) && isBasic(w.info.TypeOf(node.Y), kinds)
}

// negated is a condition's opposite.
func (w *work) negated(condition ast.Expr) string {
	switch node := unparen(condition).(type) {
	case *ast.UnaryExpr:
		if node.Op == token.NOT {
			return "(" + w.source(node.X) + ")"
		}
	case *ast.BinaryExpr:
		if op, ok := opposite[node.Op]; ok && w.ordered(node) && w.drawn(2) == 0 {
			return fmt.Sprintf("(%s %s %s)", w.source(node.X), op, w.source(node.Y))
		}
	}
	return "!(" + w.source(condition) + ")"
}

// variable says whether an expression is compiled: constants must stay what they are.
func (w *work) variable(expression ast.Expr) bool {
	value, ok := w.info.Types[expression]
	return ok && value.Value == nil && value.IsValue()
}

func negateComparison(w *work, name string, node ast.Node) {
	comparison, ok := node.(*ast.BinaryExpr)
	if !ok || !w.variable(comparison) || !w.ordered(comparison) {
		return
	}
	if op, ok := opposite[comparison.Op]; ok {
		w.replace(name, node, func() string {
			return fmt.Sprintf("!(%s %s %s)", w.source(comparison.X), op, w.source(comparison.Y))
		})
	}
}

// moveBound: x < 3 is x <= 2.
func moveBound(w *work, name string, node ast.Node) {
	comparison, ok := node.(*ast.BinaryExpr)
	if !ok || !w.variable(comparison) || !isBasic(w.info.TypeOf(comparison.X), types.IsInteger) {
		return
	}
	bound, ok := w.constant(comparison.Y)
	if !ok || bound < 1 || bound > 120 {
		return
	}
	moved := map[token.Token]struct {
		op token.Token
		by int64
	}{token.LSS: {token.LEQ, -1}, token.LEQ: {token.LSS, 1}, token.GTR: {token.GEQ, 1}, token.GEQ: {token.GTR, -1}}
	if to, ok := moved[comparison.Op]; ok {
		w.replace(name, node, func() string {
			return fmt.Sprintf("%s %s %d", w.source(comparison.X), to.op, bound+to.by)
		})
	}
}

// measureString: a string is empty where its length is 0; a length is never below 0.
func measureString(w *work, name string, node ast.Node) {
	comparison, ok := node.(*ast.BinaryExpr)
	if !ok || !w.variable(comparison) {
		return
	}
	if call, ok := unparen(comparison.X).(*ast.CallExpr); ok && w.info.Types[call.Fun].IsBuiltin() && len(call.Args) == 1 {
		bound, constant := w.constant(comparison.Y)
		forms := map[token.Token][]string{
			token.EQL: {"%s < 1", "%s <= 0", "1 > %s"}, token.NEQ: {"%s > 0", "%s >= 1", "0 < %s"},
			token.GTR: {"%s != 0", "%s >= 1"}, token.LSS: nil,
		}[comparison.Op]
		if constant && bound == 0 && len(forms) > 0 && w.source(call.Fun) == "len" {
			w.replace(name, node, func() string { return fmt.Sprintf(w.one(forms...), w.source(call)) })
		}
		return
	}
	value := w.info.Types[comparison.Y].Value
	if value == nil || value.ExactString() != `""` || !isBasic(w.info.TypeOf(comparison.X), types.IsString) {
		return
	}
	forms := map[token.Token][]string{
		token.EQL: {"len(%s) == 0", "len(%s) < 1", "len(%s) <= 0"}, token.NEQ: {"len(%s) != 0", "len(%s) > 0", "len(%s) >= 1"},
	}[comparison.Op]
	if len(forms) > 0 {
		w.replace(name, node, func() string { return fmt.Sprintf(w.one(forms...), w.source(comparison.X)) })
	}
}

func reorderOperands(w *work, name string, node ast.Node) {
	both, ok := node.(*ast.BinaryExpr)
	if !ok || both.Op != token.LAND && both.Op != token.LOR || !w.variable(both) {
		return
	}
	if w.total(both.X, false) && w.total(both.Y, false) {
		w.replace(name, node, func() string {
			return fmt.Sprintf("(%s) %s (%s)", w.source(both.Y), both.Op, w.source(both.X))
		})
	}
}

func (w *work) init(statement ast.Stmt) string {
	if statement == nil {
		return ""
	}
	return w.source(statement) + "; "
}

func (w *work) elseBlock(statement ast.Stmt) string {
	if _, chained := statement.(*ast.IfStmt); chained {
		return "{\n" + w.source(statement) + "\n}"
	}
	return w.source(statement)
}

func flipBranches(w *work, name string, node ast.Node) {
	choice, ok := node.(*ast.IfStmt)
	if !ok || choice.Else == nil {
		return
	}
	w.replace(name, node, func() string {
		return fmt.Sprintf("if %s%s %s else %s", w.init(choice.Init), w.negated(choice.Cond), w.elseBlock(choice.Else), w.source(choice.Body))
	})
}

func emptyBranch(w *work, name string, node ast.Node) {
	choice, ok := node.(*ast.IfStmt)
	if !ok || choice.Else != nil {
		return
	}
	w.replace(name, node, func() string {
		return fmt.Sprintf("if %s%s {\n} else %s", w.init(choice.Init), w.negated(choice.Cond), w.source(choice.Body))
	})
}

// turnGuard puts what follows a guard into its other branch.
func turnGuard(w *work, name string, node ast.Node) {
	guard, ok := node.(*ast.IfStmt)
	if !ok || guard.Else != nil || guard.Init != nil || !leaves(guard.Body) {
		return
	}
	list, at := w.list(guard)
	if list == nil || at+1 == len(list) {
		return
	}
	rest := list[at+1:]
	w.add(name, guard.Pos(), rest[len(rest)-1].End(), func() string {
		after := w.between(rest[0].Pos(), rest[len(rest)-1].End())
		if w.drawn(2) == 0 {
			return fmt.Sprintf("if %s {\n%s\n} else %s", w.negated(guard.Cond), after, w.source(guard.Body))
		}
		return fmt.Sprintf("if %s %s else {\n%s\n}", w.source(guard.Cond), w.source(guard.Body), after)
	})
}

// leaves says whether what follows a block is never reached from it.
func leaves(block *ast.BlockStmt) bool {
	if len(block.List) == 0 {
		return false
	}
	switch last := block.List[len(block.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK || last.Tok == token.CONTINUE
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		name, ok := call.Fun.(*ast.Ident)
		return ok && name.Name == "panic"
	}
	return false
}

func splitCondition(w *work, name string, node ast.Node) {
	choice, ok := node.(*ast.IfStmt)
	if !ok || choice.Else != nil {
		return
	}
	both, ok := unparen(choice.Cond).(*ast.BinaryExpr)
	if ok && both.Op == token.LAND {
		w.replace(name, node, func() string {
			return fmt.Sprintf("if %s%s {\nif %s %s\n}", w.init(choice.Init), w.source(both.X), w.source(both.Y), w.source(choice.Body))
		})
	}
}

func returnEarly(w *work, name string, node ast.Node) {
	given, ok := node.(*ast.ReturnStmt)
	if list, _ := w.list(node); !ok || list == nil || len(given.Results) != 1 {
		return
	}
	both, ok := unparen(given.Results[0]).(*ast.BinaryExpr)
	if !ok || !w.variable(both) || !isBasic(w.info.TypeOf(both), types.IsBoolean) {
		return
	}
	first, second := w.source(both.X), w.source(both.Y)
	switch both.Op {
	case token.LAND:
		w.replace(name, node, func() string {
			return fmt.Sprintf("if %s {\nreturn false\n}\nreturn %s", w.negated(both.X), second)
		})
	case token.LOR:
		w.replace(name, node, func() string {
			return fmt.Sprintf("if %s {\nreturn true\n}\nreturn %s", first, second)
		})
	}
}

func nestElse(w *work, name string, node ast.Node) {
	choice, ok := node.(*ast.IfStmt)
	if !ok {
		return
	}
	if chained, ok := choice.Else.(*ast.IfStmt); ok {
		w.replace(name, chained, func() string { return w.elseBlock(chained) })
	}
}
