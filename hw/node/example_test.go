// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"sync"

	"github.com/uetcc/uetcc/hw/node"
)

// A whole program: two nodes, here in one process, and a transfer from one to the other.
func Example() {
	ctx := context.Background()
	target, err := node.Listen("127.0.0.1:0", node.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer target.Close()
	region, _ := target.Expose(make([]byte, 1<<20))

	source, err := node.Listen("127.0.0.1:0", node.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	at, got := node.At{Region: region}, make([]byte, 5)
	if err = source.Write(ctx, target.Addr(), at, []byte("hello")); err == nil {
		err = source.Read(ctx, target.Addr(), at, got)
	}
	fmt.Printf("%s %v\n", got, err)
	// Output: hello <nil>
}

// Two nodes play ping-pong with tagged messages.
func ExampleNode_Send() {
	ctx := context.Background()
	a, _ := node.Listen("127.0.0.1:0", node.Options{})
	b, _ := node.Listen("127.0.0.1:0", node.Options{})
	defer a.Close()
	defer b.Close()
	const ping, pong = 1, 2
	go func() {
		buffer := make([]byte, 100)
		n, from, _ := b.Recv(ctx, a.Addr(), ping, buffer)
		_ = b.Send(ctx, from, pong, append(buffer[:n], " and back"...))
	}()
	_ = a.Send(ctx, b.Addr(), ping, []byte("there"))
	buffer := make([]byte, 100)
	n, _, _ := a.Recv(ctx, b.Addr(), pong, buffer)
	fmt.Printf("%s\n", buffer[:n])
	// Output: there and back
}

// Eight nodes add up their vectors: each writes its own to all others, says so with a message, and adds what has come.
func Example_allReduce() {
	const nodes, length = 8, 1000
	ctx := context.Background()
	var all [nodes]*node.Node
	var memory [nodes][]byte
	for i := range all {
		all[i], _ = node.Listen("127.0.0.1:0", node.Options{Peers: nodes})
		defer all[i].Close()
		memory[i] = make([]byte, nodes*length)
		_, _ = all[i].Expose(memory[i])
	}
	sums := make(chan int, nodes)
	for i, n := range all {
		go func() {
			vector := make([]byte, length) // one byte an element, to keep it short
			for k := range vector {
				vector[k] = byte(i + k%3)
			}
			copy(memory[i][i*length:], vector)
			for j, peer := range all {
				if j != i {
					_ = n.Write(ctx, peer.Addr(), node.At{Offset: uint64(i * length)}, vector)
					go n.Send(ctx, peer.Addr(), 0, nil)
				}
			}
			sum := 0
			for j, peer := range all {
				if j != i {
					_, _, _ = n.Recv(ctx, peer.Addr(), 0, nil)
				}
				sum += int(memory[i][j*length+2])
			}
			sums <- sum
		}()
	}
	for range nodes {
		fmt.Print(<-sums, " ")
	}
	// Output: 44 44 44 44 44 44 44 44
}

// A file goes from one node to another in pieces, four of them under way at a time.
func Example_file() {
	ctx := context.Background()
	source, _ := node.Listen("127.0.0.1:0", node.Options{})
	target, _ := node.Listen("127.0.0.1:0", node.Options{})
	defer source.Close()
	defer target.Close()
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // of a file; one of 1 GB goes alike
	_, _ = source.Expose(content)

	file, _ := os.CreateTemp("", "example")
	defer os.Remove(file.Name())
	const piece = 64 << 10
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			buffer := make([]byte, piece)
			for at := worker * piece; at < len(content); at += 4 * piece {
				if err := target.Read(ctx, source.Addr(), node.At{Offset: uint64(at)}, buffer); err != nil {
					log.Fatal(err)
				}
				_, _ = file.WriteAt(buffer, int64(at))
			}
		})
	}
	all.Wait()
	got, _ := os.ReadFile(file.Name())
	fmt.Println(len(got), bytes.Equal(got, content))
	// Output: 1048576 true
}
