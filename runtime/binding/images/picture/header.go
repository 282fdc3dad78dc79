package picture

import (
	"bytes"
	"encoding/binary"
	"image/gif"
	"image/jpeg"
	"image/png"
)

// format is what the bytes of a picture are, as libvips calls it.
type format string

const (
	jpegFormat format = "jpeg"
	pngFormat  format = "png"
	gifFormat  format = "gif"
	webpFormat format = "webp"
	heif       format = "heif"
	svg        format = "svg"
	tiff       format = "tiff"
)

// mime is its media type. The one HEIF that the service takes is AVIF.
func (f format) mime() string {
	switch f {
	case svg:
		return "image/svg+xml"
	case heif:
		return "image/avif"
	}
	return "image/" + string(f)
}

// header is what is known of a picture before it is decoded.
type header struct {
	format        format
	width, height int
	turn          orientation
	animated      bool
	alpha         bool
}

// orientation is how a camera was held: EXIF's numbers, 1 to 8; 0 is not known.
type orientation int

// errNoPicture is the reference's (sharp's) text.
func errNoPicture() *Error { return failed("Input buffer contains unsupported image format") }

func readHeader(data []byte) (h header, err error) {
	switch {
	case len(data) == 0:
		return h, failed("Input bit Array is empty")
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		h.format, h.turn = jpegFormat, jpegOrientation(data)
		c, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return h, failed("Input buffer has corrupt header: %s", err)
		}
		h.width, h.height = c.Width, c.Height
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		h.format, h.turn = pngFormat, chunkOrientation(data[8:], binary.BigEndian, "eXIf", 12)
		c, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return h, failed("Input buffer has corrupt header: %s", err)
		}
		h.width, h.height = c.Width, c.Height
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		h.format = gifFormat
		c, err := gif.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return h, failed("Input buffer has corrupt header: %s", err)
		}
		h.width, h.height = c.Width, c.Height
	case len(data) > 16 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		h.format = webpFormat
		return h, h.readWebP(data)
	case len(data) > 12 && string(data[4:8]) == "ftyp":
		h.format = heif
		return h, h.readHEIF(data)
	case bytes.HasPrefix(data, []byte("II*\x00")), bytes.HasPrefix(data, []byte("MM\x00*")):
		h.format = tiff
	case isSVG(data):
		h.format = svg
	default:
		return h, errNoPicture()
	}
	return h, nil
}

// isSVG reports whether a text begins with an element svg, behind what may stand
// before one.
func isSVG(data []byte) bool {
	head := bytes.TrimPrefix(data[:min(len(data), 1000)], []byte("\xef\xbb\xbf"))
	for {
		head = bytes.TrimLeft(head, " \t\r\n")
		end := ""
		switch {
		case bytes.HasPrefix(head, []byte("<svg")):
			return true
		case bytes.HasPrefix(head, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(head, []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(head, []byte("<!")):
			end = ">"
		default:
			return false
		}
		i := bytes.Index(head, []byte(end))
		if i < 0 {
			return false
		}
		head = head[i+len(end):]
	}
}

// readWebP reads the size out of the first chunk (RFC 9649, section 2).
func (h *header) readWebP(data []byte) error {
	if len(data) < 30 {
		return failed("Input buffer has corrupt header: webp: it ends early")
	}
	body := data[20:]
	u24 := func(i int) int { return int(body[i]) | int(body[i+1])<<8 | int(body[i+2])<<16 }
	switch string(data[12:16]) {
	case "VP8 ":
		h.width, h.height = (int(body[6])|int(body[7])<<8)&0x3fff, (int(body[8])|int(body[9])<<8)&0x3fff
	case "VP8L":
		bits := binary.LittleEndian.Uint32(body[1:])
		h.width, h.height, h.alpha = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1, bits>>28&1 != 0
	case "VP8X":
		h.alpha, h.animated = body[0]&0x10 != 0, body[0]&0x02 != 0
		h.width, h.height = u24(4)+1, u24(7)+1
		h.turn = chunkOrientation(data[12:], binary.LittleEndian, "EXIF", 8)
	default:
		return failed("Input buffer has corrupt header: webp: unknown chunk %q", data[12:16])
	}
	return nil
}

// jpegOrientation looks through the segments before the first scan (Exif 2.32, 4.7.2).
func jpegOrientation(data []byte) orientation {
	for i := 2; i+4 <= len(data) && data[i] == 0xff; {
		marker, size := data[i+1], int(binary.BigEndian.Uint16(data[i+2:]))
		if marker == 0xda || size < 2 || i+2+size > len(data) {
			break
		}
		if segment := data[i+4 : i+2+size]; marker == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")) {
			return exifOrientation(segment[6:])
		}
		i += 2 + size
	}
	return 0
}

// chunkOrientation looks through chunks of PNG (length, name, bytes, check sum) or RIFF
// (name, length, bytes, padded); frame is what a chunk has besides its bytes.
func chunkOrientation(data []byte, order binary.ByteOrder, name string, frame int) orientation {
	riff := order == binary.LittleEndian
	for len(data) >= frame {
		size, is := order.Uint32(data), string(data[4:8])
		if riff {
			size, is = order.Uint32(data[4:]), string(data[:4])
		}
		if uint64(size) > uint64(len(data)-frame) {
			return 0
		}
		if is == name {
			return exifOrientation(bytes.TrimPrefix(data[8:8+size], []byte("Exif\x00\x00")))
		}
		if riff {
			size += size & 1
		}
		data = data[min(len(data), frame+int(size)):]
	}
	return 0
}

// exifOrientation is tag 0x0112 of the first directory of a TIFF header.
func exifOrientation(t []byte) orientation {
	if len(t) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(t[:2]) == "MM" {
		order = binary.BigEndian
	}
	at := uint64(order.Uint32(t[4:]))
	if at+2 > uint64(len(t)) {
		return 0
	}
	n := uint64(order.Uint16(t[at:]))
	for i := range n {
		e := at + 2 + 12*i
		if e+12 > uint64(len(t)) {
			return 0
		}
		if order.Uint16(t[e:]) == 0x0112 {
			if v := orientation(order.Uint16(t[e+8:])); v >= 1 && v <= 8 {
				return v
			}
			return 0
		}
	}
	return 0
}

// check refuses a picture that is too large to be decoded.
func (h header) check() error {
	if h.width <= 0 || h.height <= 0 {
		return failed("Input buffer has corrupt header: it has no pixels")
	}
	return checkSize(h.width, h.height, "Input image")
}

func checkSize(width, height int, what string) error {
	if width > MaxSide || height > MaxSide || width*height > MaxPixels {
		return failed("%s exceeds pixel limit: it has %d × %d pixels, and minido works on at most %d", what, width, height, MaxPixels)
	}
	return nil
}
