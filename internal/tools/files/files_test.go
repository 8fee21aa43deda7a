package files_test

import (
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/files"
)

func TestTools(t *testing.T) {
	tooltest.Run(t, func(p tooltest.Place) []*tool.Tool {
		return files.Tools(files.Env{Vault: p.Vault, Store: p.Store, Fresh: p.Fresh})
	})
}
