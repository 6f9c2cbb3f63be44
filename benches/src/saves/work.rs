//! What is measured.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use reference::tensor::{Dtype as ReferenceDtype, TensorView};
use safetensors_core::host::{FileEditor, Repack, save};
use safetensors_core::{Dtype, SafeTensors, Slot, TensorSpec, WriteOptions};

type Work = fn(&Path, &Path) -> (f64, u64);

pub const NAMES: [&str; 5] = [
    "cp",
    "reference, from memory",
    "this crate, from memory",
    "this crate, repacked",
    "this crate, metadata changed",
];

pub const WORKS: [Work; 5] = [cp, reference, from_memory, repacked, edited];

/// A file of so many tensors of `len` bytes each.
pub fn make(path: &Path, tensors: usize, len: usize) {
    let names: Vec<String> = (0..tensors).map(|i| format!("layers.{i:03}.weight")).collect();
    let data: Vec<u8> = (0..len).map(|i| (i * 0x9e37_79b1) as u8).collect();
    let shape = [len as u64];
    let mut specs: Vec<_> = names
        .iter()
        .map(|name| TensorSpec::new(&**name, Dtype::U8, &shape).with_data(&data))
        .collect();
    save(&WriteOptions::new().plan(&mut specs, None).unwrap(), path).unwrap();
}

fn cp(source: &Path, target: &Path) -> (f64, u64) {
    measured(|| {
        assert!(Command::new("cp").arg(source).arg(target).status().unwrap().success());
        File::open(target).unwrap().sync_all().unwrap();
    })
}

fn reference(source: &Path, target: &Path) -> (f64, u64) {
    let bytes = std::fs::read(source).unwrap();
    let model = reference::SafeTensors::deserialize(&bytes).unwrap();
    let names: Vec<String> = model.names().into_iter().map(str::to_owned).collect();
    measured(|| {
        let views = names.iter().map(|name| {
            let tensor = model.tensor(name).unwrap();
            let shape = tensor.shape().to_vec();
            (name, TensorView::new(ReferenceDtype::U8, shape, tensor.data()).unwrap())
        });
        reference::serialize_to_file(views, None, target).unwrap();
        File::open(target).unwrap().sync_all().unwrap();
    })
}

fn from_memory(source: &Path, target: &Path) -> (f64, u64) {
    let bytes = std::fs::read(source).unwrap();
    let mut slots = vec![Slot::EMPTY; SafeTensors::scan(&bytes).unwrap().slots_needed()];
    let model = SafeTensors::parse(&bytes, &mut slots).unwrap();
    measured(|| {
        let mut tensors: Vec<_> = model.iter().map(TensorSpec::from).collect();
        save(&WriteOptions::new().plan(&mut tensors, None).unwrap(), target).unwrap();
    })
}

fn repacked(source: &Path, target: &Path) -> (f64, u64) {
    measured(|| {
        let options = WriteOptions::new().align(4096);
        Repack::open(source).unwrap().save(target, &options).unwrap();
    })
}

/// It has to take the place of the file that it changes.
fn edited(source: &Path, target: &Path) -> (f64, u64) {
    std::fs::hard_link(source, target).unwrap();
    measured(|| {
        let mut editor = FileEditor::open(target).unwrap();
        editor.set_metadata("license", "MIT").unwrap();
        editor.save().unwrap();
    })
}

/// Seconds, and the bytes of memory that it took beyond what is there now.
fn measured(work: impl FnOnce()) -> (f64, u64) {
    let before = memory("VmRSS:");
    let start = Instant::now();
    work();
    let seconds = start.elapsed().as_secs_f64();
    (seconds, memory("VmHWM:").saturating_sub(before))
}

fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}
