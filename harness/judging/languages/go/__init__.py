"""Go: `go test`, test binaries built beforehand."""
