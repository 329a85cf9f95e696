//go:build race

package main

func init() { manyGames = 100 }
