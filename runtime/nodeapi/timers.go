package nodeapi

func (m *Modules) installTimers() {}
