//go:build !unix

package vault

import (
	"io/fs"
	"os"
	"slices"
	"strings"
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

// pass opens the folder of that name, to ask about what is in it.
func (d openFolder) pass(name string) (openFolder, error) { return d.enter(name) }

// infos asks the system about every file in the folder, by name. One that cannot be asked
// about does not hide the others; the first error comes along.
func (d openFolder) infos() (infos []fs.FileInfo, err error) {
	defer func() {
		slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	}()
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infos, err = f.Readdir(-1)
	if err == nil {
		return infos, nil
	}
	if _, err := f.Seek(0, 0); err != nil {
		return infos, err
	}
	names, _ := f.Readdirnames(-1) // err is the news
	infos = infos[:0]
	for _, name := range names {
		if info, err := d.root.Lstat(name); err == nil {
			infos = append(infos, info)
		}
	}
	return infos, err
}

// self asks the system about the folder.
func (d openFolder) self() (fs.FileInfo, error) { return d.root.Stat(".") }

// stat asks the system about one file in the folder.
func (d openFolder) stat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

func (d openFolder) close() { _ = d.root.Close() } // only read
