# The two commands of README.md, and what they are made of.
.PHONY: quickstart test build check bench

QUICKSTART ?= playbooks/quickstart.yaml

quickstart: ## install what is missing, build, measure this machine, print the table
	deploy/bootstrap.sh build
	deploy/bootstrap.sh run
	cargo build --release --locked --bin schedrig --bin schedrig-agent
	target/release/schedrig run $(QUICKSTART) --local

build:
	deploy/bootstrap.sh build
	cargo build --locked --workspace --bins

check: build
	cargo fmt --all -- --check
	cargo xtask tidy
	cargo clippy --locked --workspace --all-targets -- -D warnings

test: check ## everything a machine without root or a real scheduler can show
	deploy/bootstrap.sh test
	if command -v cargo-nextest >/dev/null 2>&1; then cargo nextest run --locked --workspace; else cargo test --locked --workspace; fi

bench:
	cargo bench --locked --workspace
