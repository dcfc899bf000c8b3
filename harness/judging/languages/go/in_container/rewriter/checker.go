package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// checker type-checks one file at a time against the declarations of its neighbours and the compiled packages that
// they import. What it accepts the compiler accepts.
type checker struct {
	files     *token.FileSet
	importer  types.Importer
	folders   map[string][]string
	neighbour map[string]*ast.File
	words     map[string]map[string]bool
	last      *checked
}

type checked struct {
	path   string
	all    map[string][]byte
	text   []byte
	file   *ast.File
	info   *types.Info
	pkg    *types.Package
	offset func(token.Pos) int
}

func newChecker(wanted plan, all *texts) *checker {
	c := &checker{
		files:     token.NewFileSet(),
		folders:   map[string][]string{},
		neighbour: map[string]*ast.File{},
		words:     map[string]map[string]bool{},
	}
	imported := map[string]bool{}
	for _, item := range wanted.Variants {
		for path, file := range item.Files {
			imported["./"+filepath.ToSlash(filepath.Dir(path))] = true
			for _, hash := range append([]string{file.Code}, file.Inert...) {
				parsed, err := parser.ParseFile(token.NewFileSet(), path, all.get(hash), parser.ImportsOnly)
				for i := 0; err == nil && i < len(parsed.Imports); i++ {
					name, _ := strconv.Unquote(parsed.Imports[i].Path.Value)
					imported[name] = name != "C" && name != "unsafe"
				}
			}
		}
	}
	compiled := exports(imported)
	c.importer = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		if compiled[path] == "" {
			return nil, errors.New("not compiled: " + path)
		}
		return os.Open(compiled[path])
	})
	return c
}

// exports says where the compiled packages are that the wanted ones are made of. They come from the build cache.
func exports(wanted map[string]bool) map[string]string {
	arguments := []string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for name, use := range wanted {
		if use {
			arguments = append(arguments, name)
		}
	}
	sort.Strings(arguments[6:])
	command := exec.Command("go", arguments...)
	command.Stderr = os.Stderr
	out, _ := command.Output() // a package that does not compile is found out by checking it
	found := map[string]string{}
	for _, line := range strings.Split(string(out), "\n") {
		if name, file, ok := strings.Cut(line, "\t"); ok {
			found[name] = file
		}
	}
	return found
}

// check takes the texts of a variant's files; its error is the first one in the file at path. What was found good last
// is not checked again: each round begins with the text that the one before has ended with.
func (c *checker) check(path string, current map[string][]byte) (*checked, error) {
	if c.last != nil && c.last.path == path && same(c.last.all, current) {
		return c.last, nil
	}
	result, err := c.checkAnew(path, current)
	if err == nil {
		c.last = result
	}
	return result, err
}

func same(one, other map[string][]byte) bool {
	for path, text := range one {
		if known, ok := other[path]; !ok || !bytes.Equal(known, text) {
			return false
		}
	}
	return len(one) == len(other)
}

func (c *checker) checkAnew(path string, current map[string][]byte) (*checked, error) {
	text := current[path]
	file, err := parser.ParseFile(c.files, path, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	whole := []*ast.File{file}
	for _, other := range c.folder(path, current) {
		if other != path {
			whole = append(whole, c.declarations(other, current))
		}
	}
	result := &checked{path: path, all: copied(current), text: text, file: file, info: &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Implicits:  map[ast.Node]types.Object{},
		Scopes:     map[ast.Node]*types.Scope{},
	}}
	handle := c.files.File(file.Pos())
	result.offset = handle.Offset
	var first error
	config := types.Config{Importer: c.importer, Error: func(found error) {
		var typed types.Error
		if errors.As(found, &typed) && c.files.File(typed.Pos) == handle && first == nil {
			first = found
		}
	}}
	result.pkg, _ = config.Check(filepath.Dir(path), c.files, whole, result.info)
	return result, first
}

// folder lists the files of a package, without its tests.
func (c *checker) folder(path string, current map[string][]byte) []string {
	folder := filepath.Dir(path)
	if _, ok := c.folders[folder]; !ok {
		found, _ := build.Default.ImportDir(folder, 0) // what it can't read, checking reports
		names := []string{}
		for _, name := range found.GoFiles {
			names = append(names, filepath.Join(folder, name))
		}
		c.folders[folder] = names
	}
	names := append([]string{}, c.folders[folder]...)
	for other := range current {
		if filepath.Dir(other) == folder && !strings.HasSuffix(other, "_test.go") && !contains(names, other) {
			names = append(names, other)
		}
	}
	sort.Strings(names)
	return names
}

// declarations is a file without the bodies of its functions.
func (c *checker) declarations(path string, current map[string][]byte) *ast.File {
	text, ok := current[path]
	key := path
	if ok {
		key += "\n" + string(text)
	} else if c.neighbour[key] == nil {
		text, _ = os.ReadFile(path)
	}
	if c.neighbour[key] == nil {
		file, _ := parser.ParseFile(c.files, path, text, 0)
		for _, declared := range file.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok && function.Name.Name != "init" {
				function.Body = nil
			}
		}
		c.neighbour[key] = file
	}
	return c.neighbour[key]
}

// known are all words of a package's files, its tests included: no name of ours may be one of them.
func (c *checker) known(folder string) map[string]bool {
	if c.words[folder] == nil {
		found := map[string]bool{}
		paths, _ := filepath.Glob(filepath.Join(folder, "*.go"))
		for _, path := range paths {
			text, _ := os.ReadFile(path)
			addWords(found, text)
		}
		c.words[folder] = found
	}
	return c.words[folder]
}

func contains(names []string, name string) bool {
	for _, other := range names {
		if other == name {
			return true
		}
	}
	return false
}
