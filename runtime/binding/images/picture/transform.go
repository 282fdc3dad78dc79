package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/webp"
)

// Output says what is written.
type Output struct {
	// Format is a media type; one that is unknown is JPEG.
	Format string
	// Quality is 1 to 100; 0 is the format's own.
	Quality int
}

// Transform does steps with pictures, of which the first is the canvas, and writes the
// canvas. It gives the bytes and their media type. It may take seconds, and memory for
// all its pictures: 4 bytes for each pixel. Safe for concurrent use.
//
// # Errors
//
// *Error for what the service refuses, and for what is no picture or too large.
// ctx ends the work of the codecs.
func (c *Codecs) Transform(ctx context.Context, pictures [][]byte, steps []Step, out Output) ([]byte, string, error) {
	switch out.Format {
	case "image/gif":
		return nil, "", refused(415, codeUnsupported, "ERROR: GIF output is not supported in local mode")
	case "rgb", "rgba":
		return nil, "", refused(415, codeUnsupported, "ERROR: RGB/RGBA output is not supported in local mode")
	case "image/avif", "image/png", "image/webp":
	default:
		out.Format = "image/jpeg"
	}
	if len(pictures[0]) == 0 {
		return nil, "", errSteps() // what the reference says of an empty canvas
	}
	draws := 0
	for _, s := range steps {
		if s.DrawImageIndex != nil {
			draws++
		}
	}
	if draws > MaxDraws {
		return nil, "", failed("%d pictures are drawn, and minido draws at most %d", draws, MaxDraws)
	}
	w := work{c, ctx, pictures, steps}
	m, err := w.picture(0)
	if err != nil {
		return nil, "", err
	}
	data, err := c.encode(ctx, m, out)
	return data, out.Format, err
}

// work is one call of Transform.
type work struct {
	*Codecs
	ctx      context.Context
	pictures [][]byte
	steps    []Step
}

// picture is a picture after its steps, and with what is drawn onto it.
func (w work) picture(index int) (*image.RGBA, error) {
	p, err := planFor(w.steps, index)
	if err != nil {
		return nil, err
	}
	m, h, err := w.decode(w.ctx, w.pictures[index])
	if err != nil {
		return nil, err
	}
	canvas, err := p.apply(m, h.turn)
	if err != nil {
		return nil, err
	}
	for _, s := range w.steps {
		if s.DrawImageIndex == nil || s.TargetImageIndex == nil || *s.TargetImageIndex != index {
			continue
		}
		i := *s.DrawImageIndex
		if i <= index || i >= len(w.pictures) { // those that are drawn are numbered behind what they are drawn on
			return nil, errSteps()
		}
		if w.pictures[i] == nil {
			continue // a text: see the driver
		}
		overlay, err := w.picture(i)
		if err != nil {
			return nil, err
		}
		s.draw(canvas, overlay)
	}
	return canvas, nil
}

// decode reads a picture that its header does not say to be too large.
func (c *Codecs) decode(ctx context.Context, data []byte) (m image.Image, h header, err error) {
	if h, err = readHeader(data); err != nil {
		return nil, h, err
	}
	switch h.format {
	case svg, tiff:
		return nil, h, failed("images: minido does not draw pictures of the type %s; give PNG, JPEG, WebP, GIF or AVIF", h.format)
	}
	if err = h.check(); err != nil {
		return nil, h, err
	}
	if m, err = guarded(func() (image.Image, error) { return c.pixels(ctx, data, h) }); err != nil {
		return nil, h, failed("Input buffer has corrupt header: %s: %s", h.format, err)
	}
	if b := m.Bounds(); b.Dx() != h.width || b.Dy() != h.height { // of formats that say their size twice
		if err := checkSize(b.Dx(), b.Dy(), "Input image"); err != nil {
			return nil, h, err
		}
	}
	return m, h, nil
}

// guarded makes an error of a panic: decoders that are not ours meet what strangers send.
func guarded(decode func() (image.Image, error)) (m image.Image, err error) {
	defer func() {
		if x := recover(); x != nil {
			m, err = nil, fmt.Errorf("its decoder failed: %v", x)
		}
	}()
	return decode()
}

// pixels runs the decoder of a picture's format.
func (c *Codecs) pixels(ctx context.Context, data []byte, h header) (image.Image, error) {
	r := bytes.NewReader(data)
	switch {
	case h.format == jpegFormat:
		return jpeg.Decode(r)
	case h.format == pngFormat:
		return png.Decode(r)
	case h.format == gifFormat:
		m, err := gif.Decode(r)
		if err != nil || m.Bounds() == image.Rect(0, 0, h.width, h.height) {
			return m, err
		}
		whole := image.NewRGBA(image.Rect(0, 0, h.width, h.height))
		draw.Draw(whole, m.Bounds(), m, m.Bounds().Min, draw.Src)
		return whole, nil
	case h.format == webpFormat && h.animated:
		return c.decodeWebP(ctx, data, h)
	case h.format == webpFormat:
		return webp.Decode(r)
	case h.format == heif:
		return c.decodeAVIF(ctx, data)
	}
	return nil, fmt.Errorf("minido has no decoder of %s", h.format)
}

// apply makes a picture of its own out of m.
func (p plan) apply(m image.Image, turn orientation) (*image.RGBA, error) {
	m = turn.apply(m)
	if p.before {
		var err error
		if m, err = rotated(m, p.angle); err != nil {
			return nil, err
		}
	}
	if p.size != nil {
		var err error
		if m, err = p.size.apply(m, p.background); err != nil {
			return nil, err
		}
	}
	if !p.before {
		var err error
		if m, err = rotated(m, p.angle); err != nil {
			return nil, err
		}
	}
	return toRGBA(m), nil
}

func toRGBA(m image.Image) *image.RGBA {
	if done, ok := m.(*image.RGBA); ok && done.Rect.Min == (image.Point{}) && done.Stride == 4*done.Rect.Dx() {
		return done
	}
	b := m.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(out, out.Rect, m, b.Min, draw.Src)
	return out
}

// lanczos is the kernel that pictures are made smaller with: three lobes.
func lanczos() *xdraw.Kernel {
	return &xdraw.Kernel{Support: 3, At: func(t float64) float64 {
		if t == 0 {
			return 1
		}
		x := t * math.Pi
		return 3 * math.Sin(x) * math.Sin(x/3) / (x * x)
	}}
}

func (z *size) apply(m image.Image, background color.RGBA) (image.Image, error) {
	b := m.Bounds()
	scaled, part := z.fit(b.Dx(), b.Dy())
	for _, s := range []image.Point{scaled, part.Size()} {
		if err := checkSize(s.X, s.Y, "Output image"); err != nil {
			return nil, err
		}
	}
	whole := image.Rectangle{Max: scaled}
	if scaled != b.Size() {
		out := image.NewRGBA(whole)
		lanczos().Scale(out, whole, m, b, draw.Src, nil)
		m = out
	}
	if part == whole {
		return m, nil
	}
	out := image.NewRGBA(image.Rectangle{Max: part.Size()})
	if z.canvas == pad {
		draw.Draw(out, out.Rect, image.NewUniform(background), image.Point{}, draw.Src)
	}
	draw.Draw(out, whole.Sub(part.Min), m, m.Bounds().Min, draw.Over)
	return out, nil
}

// apply turns a picture the way that the camera was held.
func (o orientation) apply(m image.Image) image.Image {
	if o < 2 {
		return m
	}
	from := toRGBA(m)
	w, h := from.Rect.Dx(), from.Rect.Dy()
	size := image.Pt(w, h)
	if o >= 5 {
		size = image.Pt(h, w)
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range h {
		for x := range w {
			var to image.Point
			switch o {
			case 2:
				to = image.Pt(w-1-x, y)
			case 3:
				to = image.Pt(w-1-x, h-1-y)
			case 4:
				to = image.Pt(x, h-1-y)
			case 5:
				to = image.Pt(y, x)
			case 6:
				to = image.Pt(h-1-y, x)
			case 7:
				to = image.Pt(h-1-y, w-1-x)
			case 8:
				to = image.Pt(y, w-1-x)
			}
			copy(out.Pix[out.PixOffset(to.X, to.Y):][:4], from.Pix[from.PixOffset(x, y):][:4])
		}
	}
	return out
}

// rotated turns a picture clockwise, by less than 360 degrees. What is beside it is
// black.
func rotated(m image.Image, angle float64) (image.Image, error) {
	switch angle {
	case 0:
		return m, nil
	case 90:
		return orientation(6).apply(m), nil
	case 180:
		return orientation(3).apply(m), nil
	case 270:
		return orientation(8).apply(m), nil
	}
	b := m.Bounds()
	sin, cos := math.Sincos(angle * math.Pi / 180)
	w, h := float64(b.Dx()), float64(b.Dy())
	width, height := int(math.Round(math.Abs(w*cos)+math.Abs(h*sin))), int(math.Round(math.Abs(w*sin)+math.Abs(h*cos)))
	if err := checkSize(width, height, "Output image"); err != nil {
		return nil, err
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(out, out.Rect, image.Black, image.Point{}, draw.Src)
	x, y := float64(b.Min.X)+w/2, float64(b.Min.Y)+h/2
	xdraw.BiLinear.Transform(out, f64.Aff3{
		cos, -sin, float64(width)/2 - cos*x + sin*y,
		sin, cos, float64(height)/2 - sin*x - cos*y,
	}, m, b, draw.Over, nil)
	return out, nil
}

// draw draws a picture onto another, in the middle unless the step says where.
func (s Step) draw(canvas, overlay *image.RGBA) {
	c, o := canvas.Rect.Size(), overlay.Rect.Size()
	at := func(start, end *float64, room, size int) int {
		switch {
		case start != nil:
			return int(clamp(*start))
		case end != nil:
			return room - size - int(clamp(*end))
		}
		return (room - size) / 2
	}
	x, y := at(s.Left, s.Right, c.X, o.X), at(s.Top, s.Bottom, c.Y, o.Y)
	across, down := s.Repeat == true || s.Repeat == "x", s.Repeat == true || s.Repeat == "y"
	opacity := 1.0
	if s.Opacity != nil {
		opacity = max(0, min(1, *s.Opacity))
	}
	mask := image.NewUniform(color.Alpha16{uint16(math.Round(opacity * 0xffff))})
	from, to := image.Pt(x, y), image.Pt(x+1, y+1)
	if across {
		from.X, to.X = (x%o.X-o.X)%o.X, c.X
	}
	if down {
		from.Y, to.Y = (y%o.Y-o.Y)%o.Y, c.Y
	}
	for ty := from.Y; ty < to.Y; ty += o.Y {
		for tx := from.X; tx < to.X; tx += o.X {
			draw.DrawMask(canvas, image.Rectangle{image.Pt(tx, ty), image.Pt(tx, ty).Add(o)}, overlay, image.Point{}, mask, image.Point{}, draw.Over)
		}
	}
}

// clamp keeps a coordinate within what an int holds without overflow.
func clamp(v float64) float64 { return max(-1e6, min(1e6, v)) }
