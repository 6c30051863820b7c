// Checks of project rules that no linter covers (`make lint`).
module github.com/weft-otel/weft/tools/house

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5
)
