//go:build !unix

package vault

import (
	"io/fs"
	"os"
)

// An openFolder is a folder that a walk is in.
type openFolder struct{ root *os.Root }

// openedFolder opens the folder that root holds.
func openedFolder(root *os.Root) (openFolder, error) {
	r, err := root.OpenRoot(".")
	return openFolder{r}, err
}

// enter opens the folder of that name.
func (d openFolder) enter(name string) (openFolder, error) {
	r, err := d.root.OpenRoot(name)
	return openFolder{r}, err
}

// infos asks the system about every file in the folder.
func (d openFolder) infos() ([]fs.FileInfo, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdir(-1)
}

// names lists the files in the folder.
func (d openFolder) names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d openFolder) close() { _ = d.root.Close() } // only read
