// Command site builds the documentation as a static site: every page of docs/, the
// README as its start page, a search that runs in the browser, and light and dark
// colours. Pages need no network when they are read. A link that leads nowhere fails
// the build. "make docs" runs it.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", ".", "the repository")
	out := flag.String("out", "dist/docs", "directory of the site")
	flag.Parse()
	pages, err := Build(os.DirFS(*root), *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s; every link within them leads somewhere\n", pages, *out)
}
