module github.com/halfpoint-go/halfpoint

go 1.26
