package report

import (
	"context"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A real browser draws the page: its screenshot has the red line of a death and
// the shade of a recovery beside the page's own colours.
func TestHTMLInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no browser on this machine: install chromium to see the page drawn")
	}
	dir := t.TempDir()
	file, shot := filepath.Join(dir, "report.html"), filepath.Join(dir, "report.png")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteHTML(f, example(t)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--window-size=1200,1000", "--screenshot="+shot, "file://"+file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	drawn, err := os.Open(shot)
	if err != nil {
		t.Fatal(err)
	}
	defer drawn.Close()
	picture, err := png.Decode(drawn)
	if err != nil {
		t.Fatal(err)
	}
	red, colours := 0, map[[3]uint32]bool{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			r, g, b = r>>8, g>>8, b>>8
			colours[[3]uint32{r, g, b}] = true
			if r > 170 && g < 70 && b < 70 {
				red++
			}
		}
	}
	if red < 20 || len(colours) < 20 {
		t.Errorf("%d red pixels and %d colours: nothing was drawn", red, len(colours))
	}
}
