//go:build goolm

package e2ee

import (
	"context"
	"time"

	"go.mau.fi/util/dbutil"
)

// crashes is a database log that is asked at each statement whether the process
// ends there. Its context is cancelled then, and what comes after fails.
type crashes struct {
	dbutil.DatabaseLogger
	at func() bool
}

func (c crashes) QueryTiming(context.Context, string, string, []any, int, time.Duration, error) {
	c.at()
}

func (p *peer) crashAt(at func() bool) {
	if at == nil {
		p.store().DB.Log, p.db.Log = dbutil.NoopLogger, dbutil.NoopLogger
		return
	}
	p.store().DB.Log, p.db.Log = crashes{dbutil.NoopLogger, at}, crashes{dbutil.NoopLogger, at}
}
