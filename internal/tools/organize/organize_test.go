package organize_test

import (
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/organize"
)

func open(p tooltest.Place) []*tool.Tool {
	return organize.Tools(organize.Env{Vault: p.Vault, Store: p.Store, Now: tooltest.Now})
}

func TestTools(t *testing.T) { tooltest.Run(t, open) }
