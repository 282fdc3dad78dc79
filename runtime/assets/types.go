package assets

import (
	"path"
	"strings"
)

// contentTypes are the types of files by extension (IANA's registry, and
// common use where it has none). The machine's own table is not asked, so that
// every machine serves the same.
var contentTypes = parseTypes(`
application/atom+xml atom
application/dash+xml mpd
application/epub+zip epub
application/geo+json geojson
application/gzip gz
application/java-archive jar
application/json json map
application/json5 json5
application/ld+json jsonld
application/manifest+json webmanifest
application/msword doc
application/node cjs
application/octet-stream bin exe dmg deb
application/pdf pdf
application/postscript ai eps ps
application/rls-services+xml rs
application/rss+xml rss
application/rtf rtf
application/sql sql
application/toml toml
application/vnd.android.package-archive apk
application/vnd.apple.mpegurl m3u8
application/vnd.ms-excel xls
application/vnd.ms-fontobject eot
application/vnd.ms-powerpoint ppt
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.rar rar
application/wasm wasm
application/wsdl+xml wsdl
application/x-7z-compressed 7z
application/x-chrome-extension crx
application/x-httpd-php php
application/x-perl pl
application/x-sh sh
application/x-shockwave-flash swf
application/x-subrip srt
application/x-tar tar
application/x-xpinstall xpi
application/xhtml+xml xhtml
application/xml xml xsl
application/xml-dtd dtd
application/xslt+xml xslt
application/zip zip
audio/aac aac
audio/midi mid midi
audio/mp4 m4a
audio/mpeg mp3
audio/ogg ogg oga opus
audio/wav wav
audio/webm weba
audio/x-flac flac
font/otf otf
font/ttf ttf
font/woff woff
font/woff2 woff2
image/apng apng
image/avif avif
image/bmp bmp
image/gif gif
image/heic heic
image/heif heif
image/jp2 jp2
image/jpeg jpg jpeg jpe
image/jxl jxl
image/ktx ktx
image/ktx2 ktx2
image/png png
image/svg+xml svg
image/tiff tif tiff
image/vnd.adobe.photoshop psd
image/vnd.microsoft.icon ico
image/webp webp
message/rfc822 eml
model/gltf+json gltf
model/gltf-binary glb
model/obj obj
model/stl stl
model/vnd.usdz+zip usdz
text/cache-manifest manifest appcache
text/calendar ics
text/coffeescript coffee
text/css css
text/csv csv
text/html html htm shtml
text/javascript js mjs
text/jsx jsx
text/less less
text/markdown md
text/mdx mdx
text/plain txt log ini conf text
text/tab-separated-values tsv
text/vtt vtt
text/x-c c h cpp
text/x-java-source java
text/x-lua lua
text/x-sass sass
text/x-scss scss
text/x-vcard vcf
text/yaml yaml yml
video/mp2t ts
video/mp4 mp4
video/ogg ogv
video/quicktime mov
video/webm webm
video/x-m4v m4v
video/x-matroska mkv
video/x-msvideo avi
`)

func parseTypes(table string) map[string]string {
	types := map[string]string{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			types[fields[i]] = fields[0]
		}
	}
	return types
}

// contentType is the Content-Type of a file, "" if its name tells nothing.
func contentType(name string) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	kind := contentTypes[ext]
	if strings.HasPrefix(kind, "text/") {
		kind += "; charset=utf-8"
	}
	return kind
}
