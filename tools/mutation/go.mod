// Which deliberate faults do the tests of the gate notice? (`make mutation`)
module github.com/weft-otel/weft/tools/mutation

go 1.26.0
