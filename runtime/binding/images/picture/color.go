package picture

import (
	"image/color"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"

	"minido.dev/minido/internal/lazyregexp"
)

var (
	hexColor = lazyregexp.New(`^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`)
	rgbColor = lazyregexp.New(`^rgba?\(\s*(\d+)\s*[, ]\s*(\d+)\s*[, ]\s*(\d+)\s*(?:[,/]\s*([\d.]+)(%?)\s*)?\)$`)
)

// parseColor reads a colour of CSS: hexadecimal, a name, or rgb(). The result is
// premultiplied.
func parseColor(text string) (color.RGBA, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	if m := hexColor.FindStringSubmatch(lower); m != nil {
		digits := m[1]
		if len(digits) <= 4 {
			var double strings.Builder
			for _, d := range digits {
				double.WriteString(strings.Repeat(string(d), 2))
			}
			digits = double.String()
		}
		if len(digits) == 6 {
			digits += "ff"
		}
		v, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			return color.RGBA{}, failed("Unable to parse color from string: %s", text)
		}
		return premultiplied(color.NRGBA{uint8(v >> 24), uint8(v >> 16), uint8(v >> 8), uint8(v)}), nil
	}
	if m := rgbColor.FindStringSubmatch(lower); m != nil {
		c := color.NRGBA{channel(m[1], 1), channel(m[2], 1), channel(m[3], 1), 255}
		if m[4] != "" {
			factor := 255.0
			if m[5] != "" {
				factor = 2.55
			}
			c.A = channel(m[4], factor)
		}
		return premultiplied(c), nil
	}
	if lower == "transparent" {
		return color.RGBA{}, nil
	}
	if c, ok := colornames.Map[lower]; ok {
		return c, nil
	}
	return color.RGBA{}, failed("Unable to parse color from string: %s", text)
}

// channel is a number of the two patterns, cut to what a byte holds.
func channel(digits string, factor float64) uint8 {
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0 // several points: as if it were not there
	}
	return uint8(max(0, min(255, v*factor+0.5)))
}

func premultiplied(c color.NRGBA) color.RGBA { return color.RGBAModel.Convert(c).(color.RGBA) }
