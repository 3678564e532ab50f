package srt

import "context"

// DialWithContext is Dial that gives up when ctx is done.
//
// MediaMTX expects it of the fork that its own go.mod names, which the module
// proxies that we can reach do not all have.
func DialWithContext(ctx context.Context, network, address string, config Config) (Conn, error) {
	type result struct {
		conn Conn
		err  error
	}
	done := make(chan result, 1)

	go func() {
		conn, err := Dial(network, address, config)
		done <- result{conn, err}
	}()

	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
		// Dial ends after Config.ConnectionTimeout at the latest.
		go func() {
			if r := <-done; r.conn != nil {
				r.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}
