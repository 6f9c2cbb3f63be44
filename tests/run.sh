#!/usr/bin/env bash
# The one test command.
#
#   tests/run.sh            every step but the long ones (a few minutes)
#   tests/run.sh --full     the long ones too: fuzzing, benchmark
#   tests/run.sh STEP...    only these
#
# It installs what it needs. Targets come from rustup; where that cannot have them, Debian's
# rustc-web builds `core` for them from source.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=(fmt clippy doc test_none test_std test_cli test_all targets images qemu)
long=(fuzz bench)
: "${FUZZ_SECONDS:=60}"

say() { printf '\n== %s\n' "$*"; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Installs Debian packages, unless `command` is there already.
need() {
  local command=$1
  shift
  command -v "$command" >/dev/null && return
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"
}

# ── compilers for targets without std ──

bare_targets=(thumbv6m-none-eabi thumbv7m-none-eabi wasm32-unknown-unknown)

# cargo for a bare target: `bare_cargo TARGET ARGUMENT...`
bare_cargo() {
  local target=$1 subcommand=$2
  shift 2
  if rustup target list --installed 2>/dev/null | grep -qx "$target" ||
    rustup target add "$target" >/dev/null 2>&1; then
    cargo "$subcommand" --target "$target" "$@"
    return
  fi
  [ -x /usr/bin/rustc ] && [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library" ] ||
    need no-such-command rustc-web rust-web-src cargo-web
  local name=${target^^}
  local lld
  lld="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld"
  # A folder of its own: the two compilers must not mix.
  env "CARGO_TARGET_${name//-/_}_LINKER=$lld" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
    CARGO_TARGET_DIR="$PWD/target/bare" \
    /usr/bin/cargo "$subcommand" --target "$target" -Zbuild-std=core "$@"
}

# Where `bare_cargo` put a program of tests/images.
image() {
  local found
  found=$(ls -t target/bare/thumbv7m-none-eabi/release/"$1" \
    tests/images/target/thumbv7m-none-eabi/release/"$1" 2>/dev/null | head -n 1)
  echo "$found"
}

build_image() {
  bare_cargo thumbv7m-none-eabi build --release --manifest-path tests/images/Cargo.toml --bin "$@"
}

# ── steps ──

step_fmt() {
  local manifest
  for manifest in Cargo.toml tests/images/Cargo.toml fuzz/Cargo.toml benches/Cargo.toml; do
    cargo fmt --check --manifest-path "$manifest"
  done
}

step_clippy() {
  cargo clippy -q --all-targets -- -D warnings
  cargo clippy -q --all-targets --features std -- -D warnings
  cargo clippy -q --all-targets --all-features -- -D warnings
  cargo clippy -q --manifest-path benches/Cargo.toml -- -D warnings
}

step_doc() { RUSTDOCFLAGS="-D warnings" cargo doc -q --no-deps --all-features; }

step_test_none() { cargo test -q --no-default-features; }
step_test_std() { cargo test -q --features std; }
step_test_cli() { cargo test -q --features cli; }
step_test_all() { cargo test -q --all-features; }

step_targets() {
  local target
  for target in "${bare_targets[@]}"; do
    bare_cargo "$target" build -q --release --lib
  done
}

# No panic is reachable: the program links. That this proves something: with a panic it does not.
step_images() {
  build_image no_panic
  if build_image no_panic --features reachable >target/reachable.log 2>&1; then
    echo "a program with a reachable panic was linked"
    return 1
  fi
  grep -q "panic-never" target/reachable.log
  build_image empty
  build_image reader
  local empty reader model flash
  empty=$(flash "$(image empty)")
  reader=$(flash "$(image reader)")
  model=$(stat -c %s examples/digits/digits.safetensors)
  flash=$((reader - empty - model))
  echo "flash for parse, look-up and data: $flash bytes above an empty program"
  [ "$flash" -le 10240 ]
}

# The bytes that a program takes in flash: the sizes of its loaded segments.
flash() {
  python3 - "$1" <<'PY'
import struct, sys
elf = open(sys.argv[1], "rb").read()
offset, size, count = struct.unpack_from("<I", elf, 28)[0], *struct.unpack_from("<HH", elf, 42)
headers = [struct.unpack_from("<8I", elf, offset + i * size) for i in range(count)]
print(sum(header[4] for header in headers if header[0] == 1))
PY
}

step_qemu() {
  need qemu-system-arm qemu-system-arm
  build_image qemu
  qemu-system-arm -cpu cortex-m3 -machine lm3s6965evb -nographic \
    -semihosting-config enable=on,target=native -kernel "$(image qemu)" | tee target/qemu.txt
  diff tests/images/expected.txt target/qemu.txt
}

step_fuzz() {
  cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal
  command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
  local target
  for target in $(cd fuzz && cargo +nightly fuzz list); do
    mkdir -p "fuzz/corpus/$target"
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
      -max_total_time="$FUZZ_SECONDS" -dict=fuzz/json.dict -print_final_stats=1 2>&1 |
      grep -E "^(stat::|SUMMARY|Done|.*panicked|==)|DONE" || return 1
  done
}

step_bench() {
  need valgrind valgrind
  cargo run -q --release --manifest-path benches/Cargo.toml -- --check
}

# ── ──

case "${1-}" in
  "") steps=("${quick[@]}") ;;
  --full) steps=("${quick[@]}" "${long[@]}") ;;
  *) steps=("$@") ;;
esac

mkdir -p target
passed=0 failed=0
for step in "${steps[@]}"; do
  say "$step"
  start=$SECONDS
  # A subshell with -e of its own: `if step` would switch it off.
  set +e
  (set -e; "step_$step")
  status=$?
  set -e
  if [ "$status" = 0 ]; then
    passed=$((passed + 1))
    echo "-- $step: passed in $((SECONDS - start)) s"
  else
    failed=$((failed + 1))
    echo "-- $step: FAILED in $((SECONDS - start)) s"
  fi
done
echo
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
