# One entry point for every habit; CI runs `.ci/run`.

CARGO ?= cargo
# Cargo's target folder, which its configuration may move; `target` where there is no cargo, as often under sudo.
TARGET := $(subst $(CURDIR)/,,$(or $(shell $(CARGO) metadata --no-deps --format-version 1 2>/dev/null | \
	sed 's/.*"target_directory":"\([^"]*\)".*/\1/'),target))
SSDLAB = "$(TARGET)/release/ssdlab"
# What the suites that take minutes run.
TEST_PROGRAM = SSDLAB_TEST_PROGRAM="$$(realpath $(SSDLAB))"
# The labs that make filesystems need root.
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Where `make install` puts the program; DESTDIR goes in front of it.
PREFIX ?= /usr/local

.PHONY: demo fleet-demo build kernel kernel-6.12 kernel-new fetch-kernel readme evidence cross-check predictions \
	probe-table adversaries reference manual answers who-beside who-kernels who-bench databases install deb archive \
	dist test test-virtual check lint rustdoc bench validation kill-test crash-test fuzz fuzz-targets clean

# Installs what is missing, builds, and answers the README's question in the virtual lab.
demo: kernel
	scripts/install-packages run
	$(SSDLAB) run sqlite

# The same question, smaller, on two Slurm nodes that this machine pretends to be.
fleet-demo: kernel
	scripts/install-packages build run fleet
	$(SUDO) env XDG_CACHE_HOME="$${XDG_CACHE_HOME:-$$HOME/.cache}" scripts/fleet-demo $(SSDLAB)

build:
	$(CARGO) build --release --locked

# The lab kernel, which virtual labs run, into the cache of whoever calls this: some minutes, once.
kernel:
	scripts/install-packages build kernel
	$(MAKE) --no-print-directory build
	$(SSDLAB) kernel build

# The other lab kernel that the README names, kept in the cache beside the first.
kernel-6.12: kernel
	scripts/install-packages kernel-6.12
	$(SSDLAB) kernel build --source /usr/src/linux-source-6.12.tar.xz

# The newest Linux that Debian has, beside both. What apt here does not offer comes from Debian's backports, after a
# yes or with BACKPORTS=yes, into the target folder; nothing is installed, and apt's configuration is not changed.
kernel-new: fetch-kernel kernel
	$(SSDLAB) kernel build --source "$(TARGET)/linux-source/newest.tar.xz"

fetch-kernel:
	scripts/fetch-kernel "$(TARGET)/linux-source"

# The run that the README shows, made again (some minutes) and written there; `make test` compares.
readme: kernel
	rm -rf target/readme
	$(SSDLAB) run sqlite --results target/readme >/dev/null
	$(CARGO) xtask answers --runs target/readme
	UPDATE_README=1 $(CARGO) test --locked --test readme

# The pages of the manual that are made from the program; `make test` compares.
reference:
	$(CARGO) xtask reference

# The manual, as a website in target/manual. Installs mdBook below target.
manual:
	scripts/manual

# The answers in the manual, from a run of each shipped plan (hours; a run that ended is not repeated).
answers: kernel
	scripts/answers $(SSDLAB) target/answers

# The program, completions of shells, man pages, licences. Does not build, so that root need not.
install:
	@test -x $(SSDLAB) || { echo no $(SSDLAB): build it first, not as root, with \`make build\`, or name it: SSDLAB=FILE; \
		exit 1; }
	scripts/install $(SSDLAB) $(PREFIX)

# Debian packages in target/deb: the program, the lab kernel, and the kernel's source.
deb: kernel
	scripts/install-packages package
	scripts/deb $(SSDLAB) target/deb

# An archive that runs where it is unpacked, and a container image of it, in target/dist.
archive: kernel manual
	scripts/install-packages archive
	scripts/archive $(SSDLAB) "$(TARGET)/manual" target/dist
	scripts/image target/dist

# The same with a statically linked program, which is there alone, too; the sources that licences ask for; checksums.
# The same commit, compiler and packages of Debian give the same bytes in any folder.
dist: kernel manual
	scripts/install-packages build archive
	scripts/dist target/dist
	scripts/archive target/dist/ssdlab-*-"$$(uname -m)" "$(TARGET)/manual" target/dist
	scripts/image target/dist
	scripts/sources target/dist

# The numbers of the virtual lab in the book of evidence, made again (an hour), and docs/evidence.md.
EVIDENCE = btrfs-small-writes database discard etcd filesystems journal small-files sqlite wear
evidence: kernel
	rm -rf target/evidence
	for plan in $(EVIDENCE); do \
		$(SSDLAB) run $$plan --runs 1 --results target/evidence >/dev/null || exit 1; done
	$(CARGO) xtask evidence --runs target/evidence
	$(CARGO) test --locked --package ssdlab-xtask evidence

# The same simulated drive in real time and in the virtual lab: the table in docs/virtual-lab.md, and
# docs/evidence.md. On an idle machine.
cross-check: kernel-6.12
	scripts/install-packages build run test
	$(SUDO) rm -rf target/cross-check
	$(SUDO) env XDG_CACHE_HOME="$${XDG_CACHE_HOME:-$$HOME/.cache}" scripts/cross-check $(SSDLAB) target/cross-check
	$(CARGO) xtask evidence

# What the virtual lab predicts, and what the running kernel then does: the table in docs/how-to/live.md.
predictions: kernel
	scripts/install-packages build run test
	$(SUDO) env XDG_CACHE_HOME="$${XDG_CACHE_HOME:-$$HOME/.cache}" scripts/predictions $(SSDLAB)

# Probes every shipped drive, served in real time: the table in docs/how-to/probe.md (half an hour).
# On an idle machine.
probe-table:
	scripts/install-packages build run test
	$(SUDO) env SSDLAB_PROBE_ALL=1 $$(command -v $(CARGO)) test --release --locked --test machine \
		-- --nocapture a_probe_names_served_drives

# The runs under which verdicts of shipped claims change (an hour).
adversaries: kernel
	$(CARGO) test --release --locked --test adversaries -- --ignored

# Power cuts of databases as they come from their registries (hours; what is measured is kept): docs/databases.md.
databases: kernel
	scripts/install-packages build run databases
	scripts/databases run $(SSDLAB) target/databases

# Every test. Those that need root are reported as ignored without it.
test: kernel
	scripts/install-packages build run test fleet
	CARGO_TARGET_DIR="$(TARGET)" scripts/install-python
	CARGO_TARGET_DIR="$(TARGET)" scripts/fetch-guest
	npm ci --prefix tests/browser --ignore-scripts --no-audit --no-fund
	# Tests make folders that nobody else may be able to write to.
	umask 022; $(TEST_PROGRAM) $(CARGO) test --workspace --locked --no-fail-fast

# Those of the virtual lab alone.
test-virtual: kernel
	$(TEST_PROGRAM) $(CARGO) test --locked --test virtual

# What must hold of the source.
check: lint rustdoc

lint:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

rustdoc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet

# The simulated drive, traces, reports and the virtual lab; then, as root, the engine beside fio, a trial beside
# the equivalent shell script, what tracing costs, and Bonnie's tests beside bonnie++.
bench: kernel
	scripts/install-packages build run test
	$(CARGO) bench --locked --bench content
	$(CARGO) bench --locked -p ssdlab-flash --bench model
	$(CARGO) bench --locked -p ssdlab-trace --bench formats
	$(CARGO) bench --locked --bench sweep
	$(CARGO) bench --locked --bench reports
	$(CARGO) bench --locked --bench virtual
	$(SUDO) $$(command -v $(CARGO)) bench --locked --bench engine
	$(SUDO) $$(command -v $(CARGO)) bench --locked --bench trial
	$(SUDO) $$(command -v $(CARGO)) bench --locked --bench tracing
	$(SUDO) $$(command -v $(CARGO)) bench --locked --bench bonnie

# Other tools that tell what writes beside `ssdlab who`: the table in docs/how-to/who.md. As root.
who-beside: build
	scripts/install-packages who
	$(SUDO) scripts/measure-who beside $(SSDLAB)

# `ssdlab who` under stock kernels, on layers and filesystems that this machine may lack: the table in
# docs/how-to/who.md. As root, a quarter of an hour for each kernel.
who-kernels: build
	scripts/install-packages who-kernels
	$(SUDO) scripts/who-kernels $(SSDLAB) target/who-kernels

# What recording who writes costs: the numbers in docs/speed.md. As root.
MINUTES = 60
who-bench: build
	scripts/install-packages who
	$(SUDO) scripts/measure-who cost $(SSDLAB) $(MINUTES)

# The simulated drive against theory, as the table in docs/flash-model.md.
validation:
	@$(CARGO) test --quiet --release --locked -p ssdlab-flash --test validation -- \
		--nocapture --test-threads 1 2>/dev/null | sed -n 's/^[^|]*|/|/p'

# Kills a run at a random moment, restores, and looks for leftovers; a hundred times.
kill-test: build
	$(SUDO) scripts/kill-test $(SSDLAB) 100

# Bisects a tree of Linux with eight commits, of which three change what a filesystem does (ten minutes).
bisect-test:
	scripts/install-packages build kernel
	$(CARGO) test --locked --test judge -- --ignored --nocapture

# Tens of thousands of power cuts (half an hour): each flush that is left out of Linux must be missed, and nothing
# else. The tables of docs/power-cuts.md.
cut-test: kernel
	scripts/install-packages build kernel run test
	$(CARGO) test --locked --test many_cuts -- --ignored --nocapture --test-threads 1

# Programs that lose nothing, after ten thousand cuts on each filesystem (an hour), and in Java and Go.
crash-test: kernel
	scripts/install-packages build run test
	$(CARGO) test --release --locked --test virtual -- --ignored --nocapture crash_long

# Every shipped plan at its capacity, at eight times that and at the drives' own (hours): the verdicts must be the same.
# The table of docs/method.md.
capacity-test: kernel
	scripts/install-packages build run test
	$(CARGO) test --release --locked --test capacities -- --ignored --nocapture

# Every fuzz target for so many seconds.
SECONDS = 60
fuzz:
	scripts/install-packages fuzz
	scripts/fuzz $(SECONDS)

# Only builds them.
fuzz-targets:
	scripts/install-packages fuzz
	scripts/fuzz --build

clean:
	$(CARGO) clean
