package task_test

import (
	"testing"

	"lore/internal/tool"
	"lore/internal/tool/tooltest"
	"lore/internal/tools/task"
)

func TestTools(t *testing.T) {
	tooltest.Run(t, func(tooltest.Place) []*tool.Tool { return task.Tools(task.Env{}) })
}
