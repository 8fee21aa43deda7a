package settings

// automation are the settings of workflows.
func automation() []value {
	return []value{
		{
			"automation.folder", "folder for workflows", "Workflows", "LORE_AUTOMATION_FOLDER",
			func(c *File) *string { return &c.Automation.Folder }, checkFolder("automation.folder"), nil,
		},
		{
			"automation.tools", "folder for the tools that you write", "Tools", "LORE_AUTOMATION_TOOLS",
			func(c *File) *string { return &c.Automation.Tools }, checkFolder("automation.tools"), nil,
		},
		{
			"automation.hosts", "private hosts that your own tools may reach, as HOST:PORT, separated by commas", "", "LORE_AUTOMATION_HOSTS",
			func(c *File) *string { return &c.Automation.Hosts }, nil, nil,
		},
	}
}
