package find

import "lore/internal/tool"

var docs map[string]tool.Comment
