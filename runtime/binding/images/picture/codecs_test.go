package picture

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"minido.dev/minido/runtime/binding/images/picture/codecs"
)

// The codecs are there, and modules.
func TestCodecsAreThere(t *testing.T) {
	for _, f := range codecs.Files() {
		data, err := codecs.Read(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if code, err := io.ReadAll(z); err != nil || !bytes.HasPrefix(code, []byte("\x00asm")) {
			t.Errorf("%s is no module: %v", f.Name, err)
		}
	}
}

// fields is a picture of four fields: red, green, blue, and one of the given colour.
func fields(width, height int, last color.Color) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, c := range []color.Color{color.RGBA{255, 0, 0, 255}, color.RGBA{0, 255, 0, 255}, color.RGBA{0, 0, 255, 255}, last} {
		at := image.Pt(i%2*width/2, i/2*height/2)
		draw.Draw(m, image.Rectangle{at, at.Add(image.Pt((width+1)/2, (height+1)/2))}, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return m
}

func asPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shown are the colours in the middles of the four fields of a PNG.
func shown(t testing.TB, data []byte) string {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b, out := m.Bounds(), m.Bounds().Size().String()
	for _, at := range [][2]float64{{.2, .2}, {.8, .2}, {.2, .8}, {.8, .8}} {
		c := color.NRGBAModel.Convert(m.At(int(at[0]*float64(b.Dx())), int(at[1]*float64(b.Dy())))).(color.NRGBA)
		out += " "
		for _, v := range []uint8{c.R, c.G, c.B, c.A} {
			out += string("012"[(int(v)+63)/127])
		}
	}
	return out
}

func number64(v float64) *float64 { return &v }

func transform(t testing.TB, c *Codecs, data []byte, format string, steps ...Step) ([]byte, error) {
	t.Helper()
	out, mime, err := c.Transform(context.Background(), [][]byte{data}, steps, Output{Format: format})
	if err == nil && mime != format {
		t.Errorf("the type is %s, not %s", mime, format)
	}
	return out, err
}

const plain = "(40,20) 2002 0202 0022 2222"

// Each format that is written is read back, with its size and colours; an alpha
// channel stays where the format has one.
func TestFormats(t *testing.T) {
	c := NewCodecs()
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, alpha := range []uint8{255, 0} {
		picture := asPNG(t, fields(40, 20, color.NRGBA{255, 255, 255, alpha}))
		for _, format := range []string{"image/png", "image/jpeg", "image/webp", "image/avif"} {
			data, err := transform(t, c, picture, format)
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if info, err := ReadInfo(data); err != nil || info != (Info{format, len(data), 40, 20}) {
				t.Errorf("%s: %+v, %v", format, info, err)
			}
			back, err := transform(t, c, data, "image/png")
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			want := plain
			switch {
			case alpha == 0 && format == "image/jpeg":
				want = "(40,20) 2002 0202 0022 0002"
			case alpha == 0:
				want = "(40,20) 2002 0202 0022 0000"
			}
			if got := shown(t, back); got != want {
				t.Errorf("%s, alpha %d: %s, want %s", format, alpha, got, want)
			}
		}
	}
}

// GIF is read: the first picture, on a canvas of the whole size.
func TestGIF(t *testing.T) {
	m := image.NewPaletted(image.Rect(20, 10, 40, 20), color.Palette{color.RGBA{255, 255, 255, 255}})
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{m, m}, Delay: []int{1, 1}, Config: image.Config{Width: 40, Height: 20, ColorModel: m.Palette}})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCodecs()
	out, err := transform(t, c, b.Bytes(), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(t, out), "(40,20) 0000 0000 0000 2222"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// How a camera was held is undone before anything else, and not told by info.
func TestOrientation(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, fields(40, 20, color.White), &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	c := NewCodecs()
	for n, want := range []string{
		1: plain, 2: "(40,20) 0202 2002 2222 0022", 3: "(40,20) 2222 0022 0202 2002", 4: "(40,20) 0022 2222 2002 0202",
		5: "(20,40) 2002 0022 0202 2222", 6: "(20,40) 0022 2002 2222 0202", 7: "(20,40) 2222 0202 0022 2002", 8: "(20,40) 0202 2222 2002 0022",
	} {
		if n == 0 {
			continue
		}
		exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(n)) + "\x00\x00\x00\x00\x00\x00"
		data := append([]byte("\xff\xd8"+exif), b.Bytes()[2:]...)
		if info, err := ReadInfo(data); err != nil || info.Width != 40 || info.Height != 20 {
			t.Errorf("%d: %+v, %v", n, info, err)
		}
		out, err := transform(t, c, data, "image/png")
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(t, out); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// What is too large by its header is refused before it is decoded, and what would
// become too large before it is made.
func TestBounds(t *testing.T) {
	c := NewCodecs()
	bomb := asPNG(t, image.NewGray(image.Rect(0, 0, 1, 1)))
	copy(bomb[16:], "\x00\x00\xff\xff\x00\x00\xff\xff") // the size; the check sum is made to fit
	sum := crc(bomb[12:29])
	copy(bomb[29:], []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	for name, fn := range map[string]func() ([]byte, error){
		"read": func() ([]byte, error) { return transform(t, c, bomb, "image/png") },
		"made": func() ([]byte, error) {
			return transform(t, c, asPNG(t, fields(4, 4, color.White)), "image/png", Step{Width: number64(60000), Fit: "cover"})
		},
		"long WebP": func() ([]byte, error) {
			return transform(t, c, asPNG(t, fields(4, 4, color.White)), "image/webp", Step{Width: number64(20000), Height: number64(4), Fit: "squeeze"})
		},
	} {
		_, err := fn()
		var refused *Error
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "exceeds pixel limit") && !strings.Contains(err.Error(), "too large for the WebP format") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func crc(data []byte) uint32 {
	c := ^uint32(0)
	for _, b := range data {
		c ^= uint32(b)
		for range 8 {
			c = c>>1 ^ 0xedb88320&-(c&1)
		}
	}
	return ^c
}

// A picture is drawn onto another where it is told to, as often and as clearly.
func TestDraw(t *testing.T) {
	c := NewCodecs()
	paint := func(width, height int, c color.Color) []byte {
		m := image.NewRGBA(image.Rect(0, 0, width, height))
		draw.Draw(m, m.Rect, image.NewUniform(c), image.Point{}, draw.Src)
		return asPNG(t, m)
	}
	pictures := [][]byte{paint(40, 40, color.Black), paint(10, 10, color.White)}
	one, canvas := 1, 0
	for _, test := range []struct {
		step Step
		want string
	}{
		{Step{}, "(40,40) 0002 0002 0002 0002"}, // in the middle
		{Step{Top: number64(4), Left: number64(4)}, "(40,40) 2222 0002 0002 0002"},
		{Step{Bottom: number64(4), Right: number64(4)}, "(40,40) 0002 0002 0002 2222"},
		{Step{Top: number64(4), Left: number64(4), Opacity: number64(0.5)}, "(40,40) 1112 0002 0002 0002"},
		{Step{Repeat: true}, "(40,40) 2222 2222 2222 2222"},
		{Step{Repeat: "x", Top: number64(4)}, "(40,40) 2222 2222 0002 0002"},
		{Step{Repeat: "y", Left: number64(4)}, "(40,40) 2222 0002 2222 0002"},
	} {
		test.step.DrawImageIndex, test.step.TargetImageIndex = &one, &canvas
		out, _, err := c.Transform(context.Background(), pictures, []Step{test.step}, Output{Format: "image/png"})
		if err != nil {
			t.Fatal(err)
		}
		if got := shown(t, out); got != test.want {
			t.Errorf("%+v: %s, want %s", test.step, got, test.want)
		}
	}
}

// The work of a codec ends with its context.
func TestCodecsEnd(t *testing.T) {
	c := NewCodecs()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := c.Transform(ctx, [][]byte{asPNG(t, fields(40, 20, color.White))}, nil, Output{Format: "image/webp"}); err == nil {
		t.Error("it went on")
	}
}

// A decoder that panics costs the picture, not the process.
func TestDecoderPanics(t *testing.T) {
	m, err := guarded(func() (image.Image, error) { panic("index out of range") })
	if m != nil || err == nil || !strings.Contains(err.Error(), "its decoder failed: index out of range") {
		t.Errorf("%v, %v", m, err)
	}
}

// Whatever the bytes are, headers and decoders fail or give a picture: they do not
// panic, and take no more than the bounds allow.
func FuzzPicture(f *testing.F) {
	c := NewCodecs()
	picture := asPNG(f, fields(12, 8, color.NRGBA{255, 255, 255, 100}))
	f.Add(picture)
	for _, format := range []string{"image/jpeg", "image/webp", "image/avif"} {
		data, err := transform(f, c, picture, format)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("GIF89a\x03\x00\x02\x00\x80\x00\x00\xff\x00\x00\x00\x00\xff,\x00\x00\x00\x00\x03\x00\x02\x00\x00\x02\x03\x84\x11\x05\x00;"))
	f.Add([]byte("<?xml?><!-- --><svg/>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := readHeader(data)
		if err != nil || h.width*h.height > 1<<16 {
			return
		}
		if m, _, err := c.decode(context.Background(), data); err == nil && (m.Bounds().Dx() <= 0 || m.Bounds().Dy() <= 0) {
			t.Errorf("a picture of %v", m.Bounds())
		}
	})
}
