package picture

import (
	"image"
	"image/color"
	"math"
	"strconv"
)

// plan is what is done with one picture, as sharp understands the calls that the
// reference makes for its steps: the last rotation and the last size hold, and a
// rotation comes first if a size was asked for behind it.
type plan struct {
	angle      float64
	before     bool // rotated before it is resized
	size       *size
	background color.RGBA
}

// size is what a picture is fitted to; a side that is 0 follows from the other.
type size struct {
	width, height int
	canvas        canvas
	enlarge       bool
	gravity       gravity
}

// canvas is how a picture gets into a size.
type canvas int

const (
	inside  canvas = iota // no side is larger
	cover                 // no side is smaller; what is over is cut off
	pad                   // inside, and filled up
	squeeze               // each side for itself
)

type gravity int

const (
	centre gravity = iota
	top
	right
	bottom
	left
)

// planFor collects the steps of a picture.
func planFor(steps []Step, index int) (p plan, err error) {
	for _, s := range steps {
		if s.DrawImageIndex != nil || s.ImageIndex != nil && int(*s.ImageIndex) != index || s.ImageIndex == nil && index != 0 {
			continue
		}
		if s.Rotate != nil {
			p.angle = math.Mod(math.Mod(*s.Rotate, 360)+360, 360)
		}
		if s.Width == nil && s.Height == nil {
			continue
		}
		if p.size, err = s.size(); err != nil {
			return p, err
		}
		if p.background, err = s.background(); err != nil {
			return p, err
		}
		p.before = p.before || p.angle != 0
	}
	return p, nil
}

func (s Step) size() (*size, error) {
	z := &size{}
	for _, side := range []struct {
		name string
		from *float64
		to   *int
	}{{"width", s.Width, &z.width}, {"height", s.Height, &z.height}} {
		switch v := side.from; {
		case v == nil || *v == 0:
		case *v != math.Trunc(*v), *v < 1, *v > 100_000_000:
			return nil, failed("Expected positive integer between 1 and 100000000 for %s but received %s of type number", side.name, number(*v))
		default:
			*side.to = int(*v)
		}
	}
	switch s.Fit {
	case "contain":
		z.enlarge = true
	case "cover":
		z.canvas, z.enlarge = cover, true
	case "crop":
		z.canvas = cover
	case "pad":
		z.canvas, z.enlarge = pad, true
	case "squeeze":
		z.canvas, z.enlarge = squeeze, true
	}
	switch s.Gravity {
	case "left":
		z.gravity = left
	case "right":
		z.gravity = right
	case "top":
		z.gravity = top
	case "bottom":
		z.gravity = bottom
	}
	return z, nil
}

func (s Step) background() (color.RGBA, error) {
	switch given := s.Background.(type) {
	case nil:
		if s.Fit == "pad" {
			return color.RGBA{255, 255, 255, 255}, nil
		}
		return color.RGBA{A: 255}, nil
	case string:
		return parseColor(given)
	}
	return color.RGBA{}, failed("Expected object or string for background but received %v", s.Background)
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// fit is the size that a picture is scaled to, and the part of it that stays. For pad
// the part is where it lies on the canvas.
func (z *size) fit(width, height int) (scaled image.Point, part image.Rectangle) {
	w, h := float64(width), float64(height)
	tw, th := float64(z.width), float64(z.height)
	x, y := 1.0, 1.0 // how often the picture is larger
	switch {
	case z.width > 0 && z.height > 0:
		x, y = w/tw, h/th
		switch z.canvas {
		case cover:
			x = min(x, y)
			y = x
		case inside, pad:
			x = max(x, y)
			y = x
		}
	case z.width > 0:
		x = w / tw
		if z.canvas != squeeze {
			y = x
		}
	case z.height > 0:
		y = h / th
		if z.canvas != squeeze {
			x = y
		}
	}
	if !z.enlarge {
		x, y = max(x, 1), max(y, 1)
	}
	x, y = min(x, w), min(y, h)
	scaled = image.Pt(int(w*(1/x)+0.5), int(h*(1/y)+0.5)) // in the order in which libvips rounds
	out := image.Pt(z.width, z.height)
	if out.X == 0 {
		out.X = scaled.X
	}
	if out.Y == 0 {
		out.Y = scaled.Y
	}
	switch z.canvas {
	case cover:
		out = image.Pt(min(out.X, scaled.X), min(out.Y, scaled.Y))
		at := image.Pt((scaled.X-out.X+1)/2, (scaled.Y-out.Y+1)/2)
		switch z.gravity {
		case top:
			at.Y = 0
		case bottom:
			at.Y = scaled.Y - out.Y
		case left:
			at.X = 0
		case right:
			at.X = scaled.X - out.X
		}
		return scaled, image.Rectangle{at, at.Add(out)}
	case pad:
		at := image.Pt((out.X-scaled.X)/2, (out.Y-scaled.Y)/2)
		switch z.gravity {
		case top:
			at.Y = 0
		case bottom:
			at.Y = out.Y - scaled.Y
		case left:
			at.X = 0
		case right:
			at.X = out.X - scaled.X
		}
		return scaled, image.Rectangle{at.Mul(-1), out.Sub(at)}
	}
	return scaled, image.Rectangle{Max: scaled}
}
