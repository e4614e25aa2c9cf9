package main

import (
	"context"
	"io"
)

func compare(ctx context.Context, args []string, stdout, stderr io.Writer) error { return nil }
