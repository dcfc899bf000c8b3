package main

import (
	"go/ast"
	"go/parser"
	"go/token"
)

const mostLevels = 6

// withLacking has those declarations of the other text that this one uses and lacks, and what they use in turn.
func withLacking(text, other []byte) []byte {
	files := token.NewFileSet()
	theirs, err := parser.ParseFile(files, "", other, 0)
	if err != nil {
		return text
	}
	for level := 0; level < mostLevels; level++ {
		ours, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
		if err != nil {
			return text
		}
		used := map[string]bool{}
		for _, unresolved := range ours.Unresolved {
			used[unresolved.Name] = true
		}
		before := len(text)
		for _, declared := range theirs.Decls {
			if lacks(ours, used, declared) {
				start, end := files.Position(declared.Pos()).Offset, files.Position(declared.End()).Offset
				text = append(append(append(text, '\n'), other[start:end]...), '\n')
			}
		}
		if len(text) == before {
			return text
		}
	}
	return text
}

// lacks says whether a declaration has a name that is used and not declared. Methods are left out.
func lacks(ours *ast.File, used map[string]bool, declared ast.Decl) bool {
	wanted := false
	for _, name := range declaredNames(declared) {
		if ours.Scope.Lookup(name) != nil {
			return false
		}
		wanted = wanted || used[name]
	}
	return wanted
}

func declaredNames(declared ast.Decl) []string {
	var names []string
	switch declared := declared.(type) {
	case *ast.FuncDecl:
		if declared.Recv == nil {
			names = append(names, declared.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range declared.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
