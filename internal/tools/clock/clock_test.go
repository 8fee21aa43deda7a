package clock_test

import (
	"path/filepath"
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/clock"
)

func TestTools(t *testing.T) {
	tooltest.Run(t, func(tooltest.Place) []*tool.Tool {
		return clock.Tools(clock.Env{Now: tooltest.Now, Timer: clock.NewTimer(filepath.Join(t.TempDir(), "timer.json"))})
	})
}
