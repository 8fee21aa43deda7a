package files_test

import (
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/files"
)

func TestTools(t *testing.T) {
	tooltest.Run(t, func(tooltest.Place) []*tool.Tool { return files.Tools(files.Env{}) })
}
