package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"math/rand"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var word = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

func addWords(found map[string]bool, text []byte) {
	for _, name := range word.FindAll(text, -1) {
		found[string(name)] = true
	}
}

// names makes new ones of the words that a function uses. None is used twice, or by anything else of the package.
type names struct {
	chance *rand.Rand
	taken  map[string]bool
	words  []string
}

// of sets whose words are used from now on.
func (n *names) of(nodes ...ast.Node) {
	n.words = nil
	seen := map[string]bool{}
	for _, node := range nodes {
		ast.Inspect(node, func(inner ast.Node) bool {
			if ident, ok := inner.(*ast.Ident); ok {
				for _, part := range parts(ident.Name) {
					part = strings.TrimRight(part, "0123456789")
					if !seen[part] && len(part) > 1 && len(n.words) < 60 {
						seen[part] = true
						n.words = append(n.words, part)
					}
				}
			}
			return true
		})
	}
	if len(n.words) < 6 {
		n.words = append(n.words, "value", "size", "part", "other", "next", "found")
	}
}

// parts of HTTPServer are http and server.
func parts(name string) []string {
	var found []string
	runes := []rune(name)
	start := 0
	for i := range runes {
		lower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if i > start && unicode.IsUpper(runes[i]) && (lower || unicode.IsLower(runes[i-1])) || runes[i] == '_' {
			found = append(found, strings.ToLower(strings.Trim(string(runes[start:i]), "_")))
			start = i
		}
	}
	return append(found, strings.ToLower(strings.Trim(string(runes[start:]), "_")))
}

// fresh ends in a number: tests that are laid into the package later may have any name that a person would choose.
func (n *names) fresh() string {
	for size := 2 + n.chance.Intn(2); ; size++ {
		for try := 0; try < 20; try++ {
			name := ""
			for i := 0; i < size; i++ {
				part := n.words[n.chance.Intn(len(n.words))]
				if i > 0 {
					part = strings.ToUpper(part[:1]) + part[1:]
				}
				name += part
			}
			name += strconv.Itoa(10 + n.chance.Intn(90))
			if !n.taken[name] && !token.IsKeyword(name) && types.Universe.Lookup(name) == nil && token.IsIdentifier(name) {
				n.taken[name] = true
				return name
			}
		}
	}
}
