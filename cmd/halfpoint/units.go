package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// keepUnits makes this process one of several on a database on PostgreSQL, until close is called,
// which gives up its units. On SQLite it is alone, and the Keeper is nil.
func keepUnits(st *store.Store, s bot.Settings, log *slog.Logger) (k *units.Keeper, close func() error, err error) {
	if !store.IsPostgres(s.Database) {
		return nil, func() error { return nil }, nil
	}
	rows, err := st.OpenUnits()
	if err != nil {
		return nil, nil, err
	}
	k = units.New(units.Config{Rows: rows, ID: processID(), Dead: time.Duration(s.Lease) * time.Second, Elapsed: elapsed, Log: log})
	running, end := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		if err := k.Run(running); err != nil {
			log.Warn("leaving the other processes failed, they notice by themselves", "error", err)
		}
	})
	return k, sync.OnceValue(func() error {
		end()
		group.Wait()
		return rows.Close()
	}), nil
}

// processID names this process for people and for other processes. It is another one each time.
func processID() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return cmp.Or(host, "halfpoint") + "-" + rand.Text()[:8]
}
