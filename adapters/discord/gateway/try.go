package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gorilla/websocket"
)

// Try opens a connection to the gateway at an address, waits until Discord says
// hello, and closes it. It does not identify, so it uses no session start. It takes
// no longer than within. A nil dialer stands for TCP, as in [Config].
func Try(ctx context.Context, address string, dialer func(ctx context.Context, network, addr string) (net.Conn, error), within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := dial(ctx, address, dialer, within)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	var hello packet
	if err := conn.ReadJSON(&hello); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("it says nothing: %w", ctx.Err())
		}
		return err
	}
	if hello.Op != opHello {
		return errors.New("it does not say hello")
	}
	bye := websocket.FormatCloseMessage(closeLeave, "")
	conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)) //nolint:errcheck // the connection ends either way
	return nil
}
