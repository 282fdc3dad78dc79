package main

import (
	"fmt"
	"time"

	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/internal/sched"
)

// mockPace is the time before each word of the mock model.
const mockPace = 20 * time.Millisecond

// mockAI starts the scripted provider, if it is wanted, and points the worker
// at it: env.AI, and the variables that the providers' packages read. A variable
// that the user gives with --var wins.
func (c *devCommand) mockAI(sch sched.Scheduler) (stop func() error, err error) {
	if !c.MockAI {
		return func() error { return nil }, nil
	}
	if c.AIURL != "" {
		return nil, &exitError{exitUsage, fmt.Errorf("--mock-ai and --ai-url exclude each other: one starts a provider, the other names one")}
	}
	provider, err := upstream.Start(upstream.Options{Scheduler: sch, Pace: mockPace})
	if err != nil {
		return nil, err
	}
	c.AIURL = provider.URL()
	base := provider.URL() + "/v1"
	c.Var = append([]string{
		"OPENAI_BASE_URL:" + base, "OPENAI_API_KEY:mock", "ANTHROPIC_BASE_URL:" + base, "ANTHROPIC_API_KEY:mock",
	}, c.Var...)
	return provider.Close, nil
}
