// Package filepages unmaps the pages of the process's own program. A start runs code
// that serving does not need, a bundler above all; its pages count as memory of the
// process for as long as nothing else needs the room.
package filepages
