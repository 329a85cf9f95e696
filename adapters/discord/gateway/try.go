package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"
)

// Try opens a connection to the gateway at an address, waits until Discord says
// hello, and closes it. Nobody identifies, so it costs nothing. within bounds all
// of it.
func Try(ctx context.Context, address string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	far, err := dial(ctx, address, nil, within)
	if err != nil {
		return err
	}
	defer far.Close()
	stop := context.AfterFunc(ctx, func() { far.Close() })
	defer stop()
	var hello packet
	if err := far.ReadJSON(&hello); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("it says nothing: %w", ctx.Err())
		}
		return err
	}
	if hello.Op != opHello {
		return errors.New("it does not say hello")
	}
	bye := websocket.FormatCloseMessage(closeLeave, "")
	far.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)) //nolint:errcheck // it is over either way
	return nil
}
