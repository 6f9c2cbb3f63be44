//! The files: headers of well-known models before a sparse hole.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use memmap2::{Mmap, MmapOptions};
use safetensors_core::{Header, Index, Slot};

use super::input::Input;
use super::peers::cpp::{self, Peers};

/// The models of `make_headers.py`, and whether the floors hold for them: not for those of a few
/// tensors, nor for one that is all escapes.
const MODELS: [(&str, bool); 9] = [
    ("mcu_mlp", false),
    ("mcu_mlp_f32", false),
    ("gpt2", true),
    ("llama3_8b", true),
    ("resnet50", true),
    ("mixtral_8x7b", true),
    ("sdxl_lora", true),
    ("sdxl_lora_pyascii", false),
    ("deepseek_v3", true),
];

/// Name and path of every file, made when they are missing.
pub fn all() -> Vec<(String, PathBuf)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.join("target/headers");
    // The script writes it last.
    if !folder.join("manifest.json").exists() {
        let script = here.join("make_headers.py");
        let made = Command::new("python3").arg(script).arg(&folder).output().expect("python3");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let orders = ["offset", "shuffled"];
    let names = MODELS.iter().flat_map(|(name, _)| orders.map(|order| format!("{name}.{order}")));
    names.map(|name| (name.clone(), folder.join(name + ".safetensors"))).collect()
}

/// Whether the floors hold for the file of this name.
pub fn has_floors(name: &str) -> bool {
    MODELS.iter().any(|(model, floors)| {
        *floors && name.strip_prefix(model).is_some_and(|order| order == ".offset")
    })
}

/// Calls `job` with the file, or with its beginning: valgrind can't map 600 GB.
pub fn with_input<R>(
    path: &Path,
    head_only: bool,
    peers: Option<&Peers>,
    job: impl FnOnce(&mut Input<'_>) -> R,
) -> R {
    let map = map(path, head_only);
    let header = Header::read(&map).unwrap();
    let head = &map[..header.data_start() as usize];
    let mut slots = vec![Slot::EMPTY; header.scan().unwrap().slots_needed()];
    let index = Index::build(head, &mut slots).unwrap();
    let names: Vec<String> = index.names().map(|name| name.to_string()).collect();
    job(&mut Input {
        file: &map,
        head,
        names: &names,
        slots: &mut slots,
        scratch: Vec::with_capacity(head.len()),
        simd_json: simd_json::Buffers::new(head.len()),
        cpp: peers.map(|peers| cpp::Input::new(peers, head, &names)),
    })
}

/// Calls `job` with what the header says.
pub fn with_index<R>(path: &Path, job: impl FnOnce(Index<'_, '_>) -> R) -> R {
    let map = map(path, true);
    let mut slots = vec![Slot::EMPTY; Header::read(&map).unwrap().scan().unwrap().slots_needed()];
    job(Index::build(&map, &mut slots).unwrap())
}

fn map(path: &Path, head_only: bool) -> Mmap {
    let mut file = File::open(path).unwrap();
    let mut prefix = [0; 8];
    file.read_exact(&mut prefix).unwrap();
    let mut options = MmapOptions::new();
    if head_only {
        options.len(Header::len_from_prefix(prefix).unwrap());
    }
    // SAFETY: nobody changes the file while this program runs.
    unsafe { options.map(&file) }.unwrap()
}
