//! Cost of the worst headers.

use std::hint::black_box;

use reference::tensor::Metadata;
use safetensors_core::{Header, Index, Slot};

use super::attacks::{self, Attack};
use crate::{Choice, lines, measure};

/// The longest header that is admitted, and a tenth of it; a check does with the latter.
const LENS: [usize; 2] = [10_000_000, 100_000_000];

/// For the longest, in seconds.
pub const BUDGET: f64 = 1.0;
/// What a check on a machine that does other work as well lets pass.
const LIMIT: f64 = 4.0;

/// The least bytes that need a slot: a metadata key.
const SHORTEST: usize = r#""":"","#.len();

/// What a header costs.
pub struct Bar {
    pub name: &'static str,
    /// In seconds, scaled to the longest header: for each of the lengths ours, and the reference's
    /// if it was measured.
    pub costs: Vec<Vec<f64>>,
}

impl Bar {
    /// Ours by the longest header.
    pub fn ours(&self) -> f64 {
        self.costs[self.costs.len() - 1][0]
    }
}

/// Prints a table, and returns it and whether it keeps the limit.
pub fn print(choice: &Choice) -> (Vec<Bar>, bool) {
    let few = if choice.quick() { 1 } else { 2 };
    let (lens, works) = (&LENS[..few], &WORKS[..few]);
    let mut heads = vec!["header".to_owned()];
    for megabytes in lens.iter().map(|len| len / 1_000_000) {
        let names = [format!("{megabytes} MB"), format!("ref {megabytes}")];
        heads.extend(names.into_iter().take(works.len()));
    }
    let narrow = heads.len() - 1;
    heads.extend(["verdict", "of ref"].into_iter().take(works.len()).map(str::to_owned));
    let mut bars: Vec<Bar> = Vec::new();
    for attack in attacks::ALL.iter().filter(|attack| choice.has(attack.name)) {
        if bars.is_empty() {
            lines::print_heads(choice.markdown, narrow, &heads);
        }
        let (costs, mut verdicts): (Vec<_>, Vec<_>) =
            lens.iter().map(|len| measure(attack, *len, works)).unzip();
        let mut cells = vec![attack.name.to_owned()];
        cells.extend(costs.iter().flatten().map(|seconds: &f64| format!("{seconds:.3}")));
        cells.extend(verdicts.pop().unwrap());
        lines::print(choice.markdown, narrow, &cells);
        bars.push(Bar { name: attack.name, costs });
    }
    let missed: Vec<_> = bars.iter().filter(|bar| bar.ours() > LIMIT).map(|bar| bar.name).collect();
    if !bars.is_empty() {
        println!("\n{LEGEND}\n\nLimit of a check: {LIMIT} s; missed: {missed:?}.\n");
    }
    (bars, missed.is_empty())
}

const LEGEND: &str = "\
Seconds for 100 MB of header, by headers of 10 MB and of 100 MB: parse into slots, or find an error.
ref: the safetensors crate.";

struct Input {
    head: Vec<u8>,
    /// As many as it may need.
    slots: Vec<Slot>,
    /// What each of the works says of it.
    verdicts: [String; 2],
}

type Work = fn(&mut Input);

const WORKS: [Work; 2] = [ours, reference];

/// Seconds of each of the works, and their verdicts.
fn measure(attack: &Attack, len: usize, works: &[Work]) -> (Vec<f64>, Vec<String>) {
    let head = (attack.make)(len);
    assert!(head.len() <= 8 + len && head.len() > len / 100 * 99, "{}", attack.name);
    let slots = vec![Slot::EMPTY; needed(&head)];
    let mut input = Input { head, slots, verdicts: Default::default() };
    let scale = LENS[1] as f64 / len as f64;
    let times = measure::times(&mut input, works).into_iter().map(|time| time * scale).collect();
    (times, input.verdicts.into_iter().take(works.len()).collect())
}

fn ours(input: &mut Input) {
    let result = black_box(Index::build(black_box(&input.head), &mut input.slots));
    input.verdicts[0] = match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    };
}

fn reference(input: &mut Input) {
    let json = std::str::from_utf8(black_box(&input.head[8..])).unwrap();
    let result = black_box(serde_json::from_str::<Metadata>(json));
    input.verdicts[1] = if result.is_ok() { "ok" } else { "refused" }.to_owned();
}

/// What a scan says, or if the header is broken the most it can come to.
fn needed(head: &[u8]) -> usize {
    let scan = Header::read(head).and_then(|header| header.scan());
    scan.map_or(head.len() / SHORTEST, |scan| scan.slots_needed())
}
