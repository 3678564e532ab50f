// The modules that `build` takes, pinned by go.sum. Nothing here imports them.
module onair.dev/images/mediamtx

go 1.26.0

require (
	github.com/bluenviron/gortmplib v1.0.0
	github.com/bluenviron/mediamtx v1.20.0
	github.com/datarhei/gosrt v0.11.0
)
