package picture

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
)

// The qualities of pictures that ask for none: those of sharp.
const (
	jpegQuality = 80
	webpQuality = 80
	avifQuality = 50
)

// maxWebPSide is how many pixels a side of a WebP picture can have (RFC 9649).
const maxWebPSide = 16383

func (c *Codecs) encode(ctx context.Context, m *image.RGBA, out Output) ([]byte, error) {
	quality := func(standard int) int {
		if out.Quality == 0 {
			return standard
		}
		return max(1, min(100, out.Quality))
	}
	var b bytes.Buffer
	switch out.Format {
	case "image/png":
		if err := png.Encode(&b, m); err != nil {
			return nil, failed("png: %s", err)
		}
		return b.Bytes(), nil
	case "image/webp":
		if max(m.Rect.Dx(), m.Rect.Dy()) > maxWebPSide {
			return nil, failed("Processed image is too large for the WebP format")
		}
		return c.encodeWebP(ctx, m, quality(webpQuality))
	case "image/avif":
		return c.encodeAVIF(ctx, m, quality(avifQuality))
	}
	if !m.Opaque() { // what is transparent becomes black, as libvips has it
		for i := 3; i < len(m.Pix); i += 4 {
			m.Pix[i] = 255
		}
	}
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality(jpegQuality)}); err != nil {
		return nil, failed("jpeg: %s", err)
	}
	return b.Bytes(), nil
}
