package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/internal/version"
)

// writeFormula writes a formula for Homebrew over the archives that lie at base, and
// returns its path. It needs those for macOS and Linux.
func writeFormula(out, base string, made []artifact) (string, error) {
	stanza := func(system, arch string) (string, error) {
		for _, a := range made {
			if a.target == (target{system, arch}) {
				data, err := os.ReadFile(a.archive)
				if err != nil {
					return "", err
				}
				return fmt.Sprintf("      url \"%s/%s\"\n      sha256 \"%s\"\n", strings.TrimRight(base, "/"), filepath.Base(a.archive), sum(data)), nil
			}
		}
		return "", fmt.Errorf("the formula needs the archive for %s/%s", system, arch)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `class Minido < Formula
  desc "Cloudflare Workers and Durable Objects on your machine, and killed where a crash could matter"
  homepage "https://minido.dev"
  version "%s"
`, version.Number())
	for _, system := range []struct{ name, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		fmt.Fprintf(&b, "\n  %s do\n", system.block)
		for _, arch := range []struct{ name, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			text, err := stanza(system.name, arch.name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "    %s do\n%s    end\n", arch.block, text)
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "minido"
    generate_completions_from_executable(bin/"minido", "completion")
  end

  test do
    assert_match "minido #{version}", shell_output("#{bin}/minido version")
  end
end
`)
	path := filepath.Join(out, "minido.rb")
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}
