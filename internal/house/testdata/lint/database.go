package planted

import "os"

func opens(sqlitePath, dir string) {
	_, _ = os.Open(sqlitePath)               // want: live-database
	_, _ = os.ReadFile(dir + "/meta.sqlite") // want: live-database
	_, _ = os.Open(dir)
	_, _ = os.ReadFile(sqlitePath) // not live: copied after the process was reaped
	_, _ = os.Stat(sqlitePath)
}
