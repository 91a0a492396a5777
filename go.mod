module ibwitness

go 1.26.0
