package planted

import (
	"context"
	clockless "time"
)

func times(ctx context.Context, d clockless.Duration) {
	_ = clockless.Now()                            // want: time
	_ = clockless.Since(clockless.Time{})          // want: time
	_ = clockless.Until(clockless.Time{})          // want: time
	<-clockless.After(d)                           // want: time
	clockless.AfterFunc(d, func() {})              // want: time
	clockless.Sleep(d)                             // want: time
	clockless.NewTimer(d)                          // want: time
	clockless.NewTicker(d)                         // want: time
	_ = clockless.Tick(d)                          // want: time
	_, stop := context.WithTimeout(ctx, d)         // want: time
	now := clockless.Now                           // want: time
	_ = clockless.Unix(0, 0).Add(clockless.Second) // a value, no clock
	_, cancel := context.WithCancel(ctx)
	stop()
	cancel()
	_ = now
}

type wall struct{}

func (wall) Now() int { return 0 }

func notThatTime() {
	time := wall{}
	_ = time.Now()
}
