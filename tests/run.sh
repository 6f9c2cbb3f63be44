#!/usr/bin/env bash
# The one test command. It installs what it needs.
#
#   tests/run.sh            the quick steps, a few minutes
#   tests/run.sh --full     the long ones as well: every input, fuzzing, the benchmark
#   tests/run.sh STEP...    only these
#   tests/run.sh --list     the names of the steps
#
# A step that fails shows what it printed. The last line counts the tests of `cargo test`, and every
# other step as one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=(fmt clippy doc test_core test_features
  build_thumbv6m build_thumbv7m build_thumbv8m build_riscv32imc build_wasm32
  no_panic no_panic_async panic_is_found sizes_quick qemu)
long=(test_embedded test_std test_small test_s390x test_i686 include examples
  python interrupted embed firmware defmt fuzz bench)

# The quick steps, but for two that have a long form.
thorough=("${quick[@]/#test_features/test_all}")
thorough=("${thorough[@]/#sizes_quick/sizes}")

target=${CARGO_TARGET_DIR:-$PWD/target}
fuzz_seconds=${FUZZ_SECONDS:-40}

# The features that work without std. `defmt` asks for a logger where something is logged, which is in no
# test of the host.
embedded=checksum,defmt,embedded-io-07,embedded-io-async-07,embedded-storage-03,embedded-storage-async-04
embedded+=,heapless-09,serde-json-core-07

# ── what has to be installed ──

fail() {
  echo "$*" >&2
  return 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

debian() {
  as_root apt-get -qq update
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qqy install --no-install-recommends "$@" >/dev/null
}

# need COMMAND PACKAGE...: Debian's packages, if there is no such command yet.
need() {
  command -v "$1" >/dev/null || debian "${@:2}"
}

# A part of the toolchain that rustup's minimal profile lacks.
component() {
  cargo "$1" --version >/dev/null 2>&1 || rustup component add "$2"
}

# find_cross LIBRARY TARGET...: sets `cross` to the cargo that builds for other machines, `compiler` to the
# rustc that it takes, and `built` to its folder: rustup's, or where that can't have the targets, Debian's,
# which builds the library, `core`, `core,alloc` or `std`, for them from source.
find_cross() {
  local source=lib/rustlib/src/rust/library sysroot host linker
  built=$target/cross
  cross=(cargo)
  compiler=rustc
  if rustup target add "${@:2}"; then return; fi
  if ! [ -d "/usr/$source" ] || ! [ -x /usr/bin/rustc ] || ! [ -x /usr/bin/cargo ]; then
    debian rustc-web rust-web-src cargo-web
  fi
  sysroot=$(rustc --print sysroot)
  host=$(rustc -vV | sed -n 's/^host: //p')
  # A folder of its own, as the compilers differ.
  built=$target/cross-debian
  linker=$sysroot/lib/rustlib/$host/bin/rust-lld
  compiler=/usr/bin/rustc
  cross=(env RUSTC=$compiler RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1
    "CARGO_TARGET_THUMBV6M_NONE_EABI_LINKER=$linker" "CARGO_TARGET_THUMBV7M_NONE_EABI_LINKER=$linker"
    /usr/bin/cargo "-Zbuild-std=$1")
}

# ── code and documentation ──

# The manifests of all packages; those beside the crate are workspaces of their own.
manifests() {
  ls Cargo.toml benches/Cargo.toml fuzz/Cargo.toml tests/images/Cargo.toml \
    tests/defmt/Cargo.toml tests/include/Cargo.toml tests/sizes/Cargo.toml examples/firmware/Cargo.toml
}

# The cargo options for each set of features: none, each, all.
feature_sets() {
  echo --no-default-features
  sed -n '/^\[features\]/,/^$/s/^\([a-z][^ =]*\) *=.*/\1/p' Cargo.toml | grep -v '^default$' |
    sed 's/^/--features=/'
  echo --all-features
}

step_fmt() {
  component fmt rustfmt
  local manifest
  for manifest in $(manifests); do
    cargo fmt --check --manifest-path "$manifest"
  done
}

step_clippy() {
  component clippy clippy
  local features targets
  for features in $(feature_sets); do
    # The tests with none and with all features, the library with each alone.
    targets=--all-targets
    [[ $features != --features=* ]] || targets=--lib
    cargo clippy --locked "$targets" "$features" -- -D warnings
  done
  cargo clippy --locked --manifest-path benches/Cargo.toml -- -D warnings
}

step_doc() {
  RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --all-features
}

# ── tests, feature by feature ──

run_tests() {
  cargo test --locked --no-fail-fast "$@"
}

# The sweeps over very many inputs, which ask nothing but the core.
sweeps=(neighbours_of_small_cases well_formed_headers broken_headers)

step_test_core() { run_tests --no-default-features; }
step_test_features() { run_tests --all-features -- "${sweeps[@]/#/--skip=}"; }
step_test_std() { run_tests --features std -- "${sweeps[@]/#/--skip=}"; }
step_test_embedded() {
  run_tests --features "$embedded" -- "${sweeps[@]/#/--skip=}"
}

# Everything, and of the sweeps every input.
step_test_all() { SAFETENSORS_FULL=1 run_tests --all-features; }

# The code of small machines, where size counts more than speed, with the tests of this one.
step_test_small() {
  RUSTFLAGS="--cfg safetensors_core_small" run_tests --target-dir "$target/small"
}

# A big-endian machine of 64 bits, and a little-endian one of 32. `cli` is not tested there: its
# tests start the command, and only an emulator can.
step_test_s390x() {
  need s390x-linux-gnu-gcc gcc-s390x-linux-gnu libc6-dev-s390x-cross
  test_under qemu-s390x s390x
}

step_test_i686() {
  need i686-linux-gnu-gcc gcc-i686-linux-gnu libc6-dev-i386-cross
  test_under qemu-i386 i686
}

# test_under EMULATOR CPU: the tests with `std`, which are those of the core and a few more, under
# QEMU and with Debian's C library for that CPU. The sweeps would take too long.
test_under() {
  local triple=$2-unknown-linux-gnu gnu=$2-linux-gnu variables=CARGO_TARGET_${2^^}_UNKNOWN_LINUX_GNU
  need "$1" qemu-user
  find_cross std "$triple"
  # Debug info would more than double what the build leaves on the disk.
  env "${variables}_LINKER=$gnu-gcc" "${variables}_RUNNER=$1 -L /usr/$gnu" \
    CARGO_PROFILE_TEST_DEBUG=false "${cross[@]}" test --locked --no-fail-fast --features std \
    --target "$triple" --target-dir "$built" -- "${sweeps[@]/#/--skip=}"
}

# The text of the compiler's errors is that of one version.
step_include() {
  local version cargo=(cargo)
  version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' tests/include/Cargo.toml)
  if [[ $(rustc --version) != "rustc $version."* ]]; then
    rustup toolchain install "$version.0" --profile minimal
    cargo=(cargo "+$version.0")
  fi
  "${cargo[@]}" test --locked --manifest-path tests/include/Cargo.toml
}

step_examples() {
  cargo build --locked --examples --all-features
}

# The command as people build it.
build_command() {
  cargo build --locked --release --features cli
  command=$target/release/safetensors
}

# python_with PACKAGE...: `$scratch/python` has them then.
python_with() {
  python3 -m venv --help >/dev/null 2>&1 && python3 -c 'import ensurepip' 2>/dev/null ||
    debian python3 python3-venv
  python3 -m venv "$scratch/python"
  "$scratch/python/bin/pip" install --quiet "$@"
}

# The Python package reads what the command writes.
step_python() {
  build_command
  python_with safetensors==0.8.0 numpy
  note "$("$scratch/python/bin/python" tests/written.py "$command")"
}

# What `safetensors embed` writes is compiled, and holds the numbers of the file; on a Cortex-M3 too.
step_embed() {
  need python3 python3
  need g++ g++
  need arm-none-eabi-gcc gcc-arm-none-eabi
  need qemu-system-arm qemu-system-arm
  build_command
  note "$(python3 tests/embed.py "$command" rustc)"
}

# The command is killed while it writes, its system calls fail, the disk is full.
step_interrupted() {
  need python3 python3
  need strace strace
  build_command
  note "$(python3 tests/interrupted.py "$command")"
}

# ── machines without std ──

build_for() {
  find_cross core "$1"
  "${cross[@]}" build --locked --lib --target "$1" --target-dir "$built"
  "${cross[@]}" build --locked --lib --target "$1" --target-dir "$built" --features "$embedded"
}

step_build_thumbv6m() { build_for thumbv6m-none-eabi; }
step_build_thumbv7m() { build_for thumbv7m-none-eabi; }
step_build_thumbv8m() { build_for thumbv8m.main-none-eabi; }
step_build_riscv32imc() { build_for riscv32imc-unknown-none-elf; }
step_build_wasm32() { build_for wasm32-unknown-unknown; }

# image NAME [OPTION...]: builds a program of tests/images; `$programs/NAME` it is then.
image() {
  find_cross core thumbv7m-none-eabi
  programs=$built/thumbv7m-none-eabi/release
  "${cross[@]}" build --locked --release --manifest-path tests/images/Cargo.toml \
    --target thumbv7m-none-eabi --target-dir "$built" --bin "$@"
}

# A program that calls everything links without a panic handler and without a heap.
step_no_panic() {
  local name
  for name in $(public_functions "(const )?fn"); do
    called "$name" no_panic
  done
  image no_panic --features defmt
  if nm "$programs/no_panic" | grep -E '__rust_alloc|__rg_|__rdl_'; then
    fail "there is a heap"
  fi
}

# A program that calls everything that is waited for panics nowhere but where a future is polled after
# it was ready.
step_no_panic_async() {
  local name
  for name in $(public_functions "async fn"); do
    called "$name" no_panic_async
  done
  async_panics
}

# async_panics [OPTION...]: fails if the program calls another panic of `core` than that of futures,
# which itself calls the machinery behind it once.
async_panics() {
  find_cross core thumbv7m-none-eabi
  local assembly=$scratch/no_panic_async.s others
  "${cross[@]}" rustc --locked --release --manifest-path tests/images/Cargo.toml \
    --target thumbv7m-none-eabi --target-dir "$built" --bin no_panic_async "$@" -- \
    --emit "asm=$assembly"
  grep -Eq '^\sbl?\S*\s.*panicking.*async_fn_resumed' "$assembly" || fail "no future was found"
  others=$(grep -E '^\sbl?\S*\s.*panicking' "$assembly" | grep -v async_fn_resumed)
  [ "$(wc -l <<<"$others")" = 1 ] || fail "another panic is reachable: $others"
}

# called NAME PROGRAM: whether a program of tests/images calls a function.
called() {
  grep -Eq "(\.|::)$1(::<[^>]*>)?\(" "tests/images/src/bin/$2.rs" ||
    fail "$2 does not call the function \`$1\`"
}

# public_functions KIND: the names of the core's public functions, but for those that call
# serde-json-core, which can panic as far as a linker can see, and those of a macro, which panic when the
# compiler calls them.
public_functions() {
  find src -name '*.rs' -not -path 'src/host/*' -not -path 'src/bin/*' -not -path 'src/json/*' \
    -not -path 'src/include/*' -exec sed -nE "s/^ *pub ($1) ([a-z0-9_]+).*/\1 \2/p" {} + |
    sed 's/.* //' | sort -u
}

# With one index that is not guarded these programs fail; so the steps above tell something.
step_panic_is_found() {
  local output
  if output=$(image no_panic --features defmt,reachable 2>&1); then
    fail "a program with a reachable panic was linked"
  fi
  grep "at least one panicking branch" <<<"$output" || fail "$output"
  if output=$(async_panics --features reachable 2>&1); then
    fail "a reachable panic was not found"
  fi
  grep "another panic is reachable" <<<"$output" || fail "$output"
}

# Flash, RAM and stack beside what is recorded, of one processor or of all.
step_sizes_quick() { sizes --quick; }
step_sizes() { sizes; }

sizes() {
  need python3 python3
  need qemu-system-arm qemu-system-arm
  find_cross core,alloc thumbv6m-none-eabi thumbv7m-none-eabi
  python3 tests/sizes.py "$@" --cargo "${cross[*]@Q}" --rustc "$compiler" --target-dir "$built" |
    tee "$scratch/table"
  note "$(cat "$scratch/table")"
}

# emulate PROGRAM: runs it on a Cortex-M3.
emulate() {
  timeout 120 qemu-system-arm -cpu cortex-m3 -machine lm3s6965evb -nographic \
    -semihosting-config enable=on,target=native -kernel "$1" </dev/null
}

step_qemu() {
  need qemu-system-arm qemu-system-arm
  image qemu
  local status=0
  emulate "$programs/qemu" >"$scratch/output" || status=$?
  # What is measured depends on the compiler and is judged by the program itself.
  note "$(sed -n 's/^measured: //p' "$scratch/output")"
  grep -v '^measured: ' "$scratch/output" | diff -u tests/images/expected.txt -
  [ "$status" = 0 ] || fail "the program ended with exit code $status"
}

# The example: a network whose outputs are those of numpy, and one that was tampered with. And the page on
# firmware, followed to the letter but for the training, which takes PyTorch.
step_firmware() {
  need qemu-system-arm qemu-system-arm
  find_cross core thumbv7m-none-eabi
  firmware parsed parsed
  firmware compiled compiled
  # A model of which a bit is flipped: of one the outputs tell, of the other its checksum.
  local kind
  for kind in f32 int8; do
    if firmware "corrupt-$kind" parsed --features "corrupt-$kind"; then
      fail "a flipped bit of $kind went unnoticed"
    fi
  done
  python_with safetensors==0.8.0 numpy
  note "$("$scratch/python/bin/python" tests/firmware_docs.py --cargo "${cross[*]@Q}")"
}

# firmware NAME PROGRAM [OPTION...]: runs it in QEMU, and compares what it prints with expected/NAME.txt.
firmware() {
  local status=0
  (cd examples/firmware && timeout 600 "${cross[@]}" run --locked --release --target-dir "$built" \
    --bin "${@:2}") </dev/null >"$scratch/output" || status=$?
  note "$(sed -n "s/^measured: /$1: /p" "$scratch/output")"
  grep -v '^measured: ' "$scratch/output" | diff -u "examples/firmware/expected/$1.txt" - || exit
  return "$status"
}

# What is logged in QEMU is decoded by the real decoder. Each value is there twice, as `defmt::Format` has it
# and as `core::fmt` has it on the target; the two must be one. What the files of the corpus make of it is not
# in expected.txt.
step_defmt() {
  need qemu-system-arm qemu-system-arm
  command -v defmt-print >/dev/null || cargo install --quiet --locked defmt-print@1.2.0
  find_cross core thumbv7m-none-eabi
  local programs=$built/thumbv7m-none-eabi/release features
  logging log
  emulate "$programs/log" >"$scratch/frames"
  defmt-print -e "$programs/log" --show-skipped-frames --log-format '{s}' \
    <"$scratch/frames" >"$scratch/log"
  awk -v once="$scratch/once" 'NR % 2 { line = $0; print >once; next }
    $0 != line { printf "logged %s\nshown  %s\n", line, $0; bad++ }
    END { print NR / 2 " values logged, " bad + 0 " not as they are shown"; exit NR % 2 || bad }' \
    "$scratch/log" >"$scratch/same" || fail "$(cat "$scratch/same")"
  note "$(cat "$scratch/same")"
  sed '/^corpus$/q' "$scratch/once" | diff -u tests/defmt/expected.txt -
  for features in "" defmt-text defmt-kind defmt-error fmt-text fmt-error; do
    logging cost --features "$features"
    note "flash of $(size -A "$programs/cost" |
      awk '/^\.(vector_table|text|rodata|data) / { sum += $2 } END { print sum }') bytes: ${features:-nothing}"
  done
}

# logging NAME [OPTION...]: builds a program of tests/defmt.
logging() {
  "${cross[@]}" build --locked --release --manifest-path tests/defmt/Cargo.toml \
    --target thumbv7m-none-eabi --target-dir "$built" --bin "$@"
}

# ── long ones ──

step_fuzz() {
  need c++ g++
  cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal ||
    fail "fuzzing needs a nightly toolchain, and rustup can't install one"
  cargo fuzz --version >/dev/null 2>&1 || cargo install --locked cargo-fuzz
  local name targets
  targets=$(cd fuzz && cargo +nightly fuzz list)
  for name in $targets; do
    # New inputs go to the first folder, and with it to nowhere; the seeds are only read.
    mkdir -p "$scratch/corpus/$name"
    (cd fuzz && cargo +nightly fuzz run "$name" "$scratch/corpus/$name" "seeds/$name" -- \
      -max_total_time="$fuzz_seconds" -dict=json.dict -print_final_stats=1)
  done
  note "$(wc -w <<<"$targets") targets, $fuzz_seconds s each"
}

step_bench() {
  need valgrind valgrind
  need python3 python3
  local bench=(cargo run --locked --release --manifest-path benches/Cargo.toml)
  "${bench[@]}" -- --check | tee "$scratch/table"
  note "$(cat "$scratch/table")"
  # With std: what half does with its help, and files.
  "${bench[@]}" --features std -- --check --numbers --saves | tee "$scratch/table"
  note "$(cat "$scratch/table")"
}

# ── running the steps ──

# Shows a line though the step's output is kept back.
note() { printf '%s\n' "$*" >&3; }

# Runs a step and adds what it tested to `passed` and `failed`.
run() {
  local step=$1 log=$scratch/$1.log start=$SECONDS status ok bad
  echo "== $step"
  # In a subshell with `set -e` of its own, as a condition around it would turn that off.
  set +e
  (set -e && "step_$step") 3>&1 >"$log" 2>&1
  status=$?
  set -e
  read -r ok bad < <(awk '/^test result:/ { ok += $4; bad += $6 } END { print ok + 0, bad + 0 }' "$log")
  if [ "$status" != 0 ]; then
    cat "$log"
    echo "-- $step FAILED after $((SECONDS - start)) s"
    [ "$bad" != 0 ] || bad=1
  else
    echo "-- ok, $((SECONDS - start)) s"
    [ "$ok" != 0 ] || ok=1
  fi
  passed=$((passed + ok)) failed=$((failed + bad))
}

case ${1-} in
  "") steps=("${quick[@]}") ;;
  --full) steps=("${thorough[@]}" "${long[@]}") ;;
  --list) printf '%s\n' "${quick[@]}" test_all sizes "${long[@]}" && exit ;;
  *) steps=("$@") ;;
esac
for step in "${steps[@]}"; do
  declare -F "step_$step" >/dev/null || { fail "there is no step \`$step\`; see --list" || exit 2; }
done

# rustup's before Debian's, which is installed for some targets only.
PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
command -v cargo >/dev/null || fail "cargo is missing: install Rust from https://rustup.rs"
need cc gcc libc6-dev

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
for step in "${steps[@]}"; do
  run "$step"
done
echo
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
