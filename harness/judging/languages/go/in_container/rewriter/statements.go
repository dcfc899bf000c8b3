package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// escapes says whether a break or continue inside node belongs to what stands around it.
func escapes(node ast.Node, wanted token.Token) bool {
	found := false
	var look func(ast.Node, bool)
	look = func(within ast.Node, top bool) {
		ast.Inspect(within, func(inner ast.Node) bool {
			if inner == nil || inner == within && !top {
				return true
			}
			switch inner := inner.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ForStmt, *ast.RangeStmt:
				return false
			case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				return wanted == token.CONTINUE
			case *ast.BranchStmt:
				if inner.Tok == wanted && inner.Label == nil {
					found = true
				}
			}
			return true
		})
	}
	look(node, true)
	return found
}

func falls(node ast.Node) bool {
	found := false
	ast.Inspect(node, func(inner ast.Node) bool {
		branch, ok := inner.(*ast.BranchStmt)
		found = found || ok && branch.Tok == token.FALLTHROUGH
		return true
	})
	return found
}

// clauses are a switch's, if every one of them can become a branch.
func clauses(block *ast.BlockStmt) []*ast.CaseClause {
	var found []*ast.CaseClause
	for _, statement := range block.List {
		clause := statement.(*ast.CaseClause)
		if falls(clause) {
			return nil
		}
		for _, inner := range clause.Body {
			if escapes(inner, token.BREAK) {
				return nil
			}
		}
		found = append(found, clause)
	}
	return found
}

func (w *work) body(clause *ast.CaseClause) string {
	if len(clause.Body) == 0 {
		return ""
	}
	return w.between(clause.Body[0].Pos(), clause.Body[len(clause.Body)-1].End())
}

func switchToIf(w *work, name string, node ast.Node) {
	choice, ok := node.(*ast.SwitchStmt)
	if list, _ := w.list(node); !ok || list == nil {
		return
	}
	found := clauses(choice.Body)
	if len(found) == 0 || len(found) == 1 && found[0].List == nil {
		return
	}
	if choice.Tag != nil && (!w.variable(choice.Tag) || !isBasic(w.info.TypeOf(choice.Tag), anyBasic)) {
		return
	}
	w.replace(name, node, func() string { return w.chain(choice, found) })
}

func (w *work) chain(choice *ast.SwitchStmt, found []*ast.CaseClause) string {
	tag, before := "", ""
	if choice.Init != nil {
		before = w.source(choice.Init) + "\n"
	}
	if choice.Tag != nil {
		tag = w.fresh()
		before += fmt.Sprintf("%s := %s\n", tag, w.source(choice.Tag))
	}
	var branches []string
	last := ""
	for _, clause := range found {
		if clause.List == nil {
			last = fmt.Sprintf(" else {\n%s\n}", w.body(clause))
			continue
		}
		var tests []string
		for _, expression := range clause.List {
			test := w.source(expression)
			if tag != "" {
				test = fmt.Sprintf("%s == (%s)", tag, test)
			}
			tests = append(tests, test)
		}
		branches = append(branches, fmt.Sprintf("if %s {\n%s\n}", strings.Join(tests, " || "), w.body(clause)))
	}
	return "{\n" + before + strings.Join(branches, " else ") + last + "\n}"
}

func ifToSwitch(w *work, name string, node ast.Node) {
	choice, ok := node.(*ast.IfStmt)
	if _, chained := w.parents[node].(*ast.IfStmt); !ok || chained || escapes(choice, token.BREAK) {
		return
	}
	cases := ""
	var branch ast.Stmt = choice
	for branch != nil {
		inner, ok := branch.(*ast.IfStmt)
		if !ok {
			block := branch.(*ast.BlockStmt)
			cases += "default:\n" + w.between(block.Lbrace+1, block.Rbrace) + "\n"
			break
		}
		if inner != choice && inner.Init != nil {
			return
		}
		cases += fmt.Sprintf("case %s:\n%s\n", w.source(inner.Cond), w.between(inner.Body.Lbrace+1, inner.Body.Rbrace))
		branch = inner.Else
	}
	w.replace(name, node, func() string { return fmt.Sprintf("switch %s{\n%s}", w.init(choice.Init), cases) })
}

func shuffleCases(w *work, name string, node ast.Node) {
	choice, ok := node.(*ast.SwitchStmt)
	if !ok || choice.Tag == nil || len(choice.Body.List) < 2 || falls(choice.Body) {
		return
	}
	for _, statement := range choice.Body.List {
		for _, expression := range statement.(*ast.CaseClause).List {
			if w.info.Types[expression].Value == nil {
				return
			}
		}
	}
	w.add(name, choice.Body.Lbrace, choice.Body.Rbrace, func() string {
		var texts []string
		for _, at := range w.job.chance.Perm(len(choice.Body.List)) {
			texts = append(texts, w.source(choice.Body.List[at]))
		}
		return "{\n" + strings.Join(texts, "\n") + "\n"
	})
}

func (w *work) labelled(node ast.Node) bool {
	_, ok := w.parents[node].(*ast.LabeledStmt)
	return ok
}

func breakInLoop(w *work, name string, node ast.Node) {
	loop, ok := node.(*ast.ForStmt)
	if !ok || loop.Cond == nil {
		return
	}
	w.add(name, loop.Pos(), loop.Body.Lbrace+1, func() string {
		head := "for "
		if loop.Init != nil || loop.Post != nil {
			head += strings.TrimSuffix(w.init(loop.Init), "; ") + ";; "
			if loop.Post != nil {
				head += w.source(loop.Post)
			}
		}
		return fmt.Sprintf("%s {\nif %s {\nbreak\n}\n", head, w.negated(loop.Cond))
	})
}

func closed(node ast.Node) bool {
	found := false
	ast.Inspect(node, func(inner ast.Node) bool {
		_, function := inner.(*ast.FuncLit)
		found = found || function
		return !found
	})
	return !found
}

func testAtEnd(w *work, name string, node ast.Node) {
	loop, ok := node.(*ast.ForStmt)
	if !ok || loop.Cond == nil || loop.Init != nil || loop.Post != nil || w.labelled(loop) {
		return
	}
	if escapes(loop.Body, token.CONTINUE) || !closed(loop.Cond) {
		return
	}
	w.replace(name, node, func() string {
		return fmt.Sprintf("if %s {\nfor {\n%s\nif %s {\nbreak\n}\n}\n}", w.source(loop.Cond), w.source(loop.Body), w.negated(loop.Cond))
	})
}

func loopByGoto(w *work, name string, node ast.Node) {
	loop, ok := node.(*ast.ForStmt)
	if list, _ := w.list(node); !ok || list == nil || loop.Cond == nil {
		return
	}
	if escapes(loop.Body, token.CONTINUE) || escapes(loop.Body, token.BREAK) || !closed(loop) {
		return
	}
	w.replace(name, node, func() string {
		label, before, after := w.fresh(), "", ""
		if loop.Init != nil {
			before = w.source(loop.Init) + "\n"
		}
		if loop.Post != nil {
			after = w.source(loop.Post) + "\n"
		}
		return fmt.Sprintf("{\n%s%s:\nif %s {\n%s\n%sgoto %s\n}\n}", before, label, w.source(loop.Cond), w.source(loop.Body), after, label)
	})
}

func rangeByIndex(w *work, name string, node ast.Node) {
	loop, ok := node.(*ast.RangeStmt)
	if list, _ := w.list(node); !ok || list == nil || loop.Tok != token.DEFINE || !closed(loop) {
		return
	}
	value, ok := loop.Value.(*ast.Ident)
	if !ok || value.Name == "_" || !w.fixed[w.info.Defs[value]] {
		return
	}
	if _, slice := w.info.TypeOf(loop.X).Underlying().(*types.Slice); !slice {
		return
	}
	w.replace(name, node, func() string {
		all, index := w.fresh(), w.source(loop.Key)
		if index == "_" {
			index = w.fresh()
		}
		loops := []string{"for %[2]s := range %[1]s {", "for %[2]s := 0; %[2]s < len(%[1]s); %[2]s++ {"}
		if key, ok := loop.Key.(*ast.Ident); ok && key.Name != "_" && !w.unchanged(key, loop.Body) {
			loops = loops[:1]
		}
		head := fmt.Sprintf(w.one(loops...), all, index)
		return fmt.Sprintf("{\n%s := %s\n%s\n%s := %s[%s]\n%s\n}\n}", all, w.source(loop.X), head, w.source(value), all, index, w.source(loop.Body))
	})
}

// unchanged says whether a variable is only read in a block.
func (w *work) unchanged(name *ast.Ident, block *ast.BlockStmt) bool {
	object := w.info.Defs[name]
	changed := !w.fixed[object]
	is := func(expression ast.Expr) bool {
		ident, ok := unparen(expression).(*ast.Ident)
		return ok && w.info.Uses[ident] == object
	}
	ast.Inspect(block, func(inner ast.Node) bool {
		switch inner := inner.(type) {
		case *ast.AssignStmt:
			for _, target := range inner.Lhs {
				changed = changed || is(target)
			}
		case *ast.IncDecStmt:
			changed = changed || is(inner.X)
		case *ast.RangeStmt:
			changed = changed || inner.Key != nil && is(inner.Key) || inner.Value != nil && is(inner.Value)
		}
		return true
	})
	return !changed
}
