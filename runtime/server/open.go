package server

// Open counts what the requests to the worker have begun and not ended, by name: timers,
// connections, calls. Objects are not among them. Only for simulations, between two steps.
func Open(s *Server) map[string]int {
	s.mu.Lock()
	w := s.current
	s.mu.Unlock()
	if w == nil || w.iso == nil {
		return map[string]int{}
	}
	return w.iso.Open()
}
