//! Cost by the number of tensors.

use std::ffi::OsStr;
use std::process::ExitCode;

use safetensors_core::{Header, Slot};

use super::models::{self, Order};
use crate::headers::input::Input;
use crate::headers::work::{self, Job, Run};
use crate::{Choice, lines, measure};

/// What is measured, as the tables call it and as the picture does.
pub const JOBS: [(Job, &str, &str); 5] = [
    (Job::Scan, "scan", "scan"),
    (Job::Parse, "parse", "parse"),
    (Job::LookUps, "look-up", "parse and look up"),
    (Job::ReferenceParse, "ref", "safetensors: parse"),
    (Job::ReferenceLookUps, "ref+", "safetensors: look up"),
];

/// Two for each power of ten.
const TENSORS: [usize; 11] =
    [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000];

/// So many times the instructions for a tensor of the few one of the many may take.
const LIMITS: [(Order, f64); 2] = [(Order::Offset, 2.0), (Order::Shuffled, 3.0)];
const FEW: usize = 1_000;
const MANY: usize = 100_000;
/// Of [`JOBS`], those that have a limit.
const OURS: usize = 3;

/// What a header of so many tensors takes.
pub struct Point {
    pub order: Order,
    pub tensors: usize,
    /// Nanoseconds for a tensor, in the order of [`JOBS`].
    pub times: Vec<f64>,
}

/// Prints a table.
pub fn print(choice: &Choice) -> Vec<Point> {
    let heads: Vec<String> =
        ["tensors"].into_iter().chain(JOBS.map(|(_, name, _)| name)).map(str::to_owned).collect();
    let mut points = Vec::new();
    for order in Order::ALL.into_iter().filter(|order| choice.has(order.name())) {
        if points.is_empty() {
            lines::print_heads(choice.markdown, heads.len(), &heads);
        }
        for tensors in TENSORS {
            let point = Point::measure(tensors, order);
            let name = format!("{tensors} {}", order.name());
            let times = point.times.iter().map(|time| format!("{time:.0}"));
            let cells: Vec<String> = [name].into_iter().chain(times).collect();
            lines::print(choice.markdown, heads.len(), &cells);
            points.push(point);
        }
    }
    if !points.is_empty() {
        println!(
            "\nNanoseconds for a tensor: scan without slots, parse into slots, parse and look up every \
             name;\nref, ref+: parse, parse and look up with the safetensors crate.\n"
        );
    }
    points
}

impl Point {
    fn measure(tensors: usize, order: Order) -> Self {
        let works = JOBS.map(|(job, ..)| on_head(job));
        let seconds = with_input(tensors, order, |input| measure::times(input, &works));
        let times = seconds.into_iter().map(|time| time * 1e9 / tensors as f64).collect();
        Self { order, tensors, times }
    }
}

fn with_input<R>(tensors: usize, order: Order, job: impl FnOnce(&mut Input<'_>) -> R) -> R {
    let (head, names) = models::make(tensors, order);
    let needed = Header::read(&head).unwrap().scan().unwrap().slots_needed();
    let mut slots = vec![Slot::EMPTY; needed];
    job(&mut Input::of_head(&head, &names, &mut slots))
}

fn on_head(job: Job) -> Run {
    work::all(false)[job as usize].on_head
}

/// Prints which limits of instructions are not kept, and returns whether all are.
pub fn check(choice: &Choice) -> bool {
    let mut misses = Vec::new();
    for (order, limit) in LIMITS.into_iter().filter(|(order, _)| choice.has(order.name())) {
        let (Some(few), Some(many)) = (instructions(FEW, order), instructions(MANY, order)) else {
            return true;
        };
        for (i, (_, job, _)) in JOBS[..OURS].iter().enumerate() {
            let ratio = many[i] / few[i];
            println!(
                "{job}, {}: {:.0} instructions a tensor of {FEW}, ×{ratio:.2} of {MANY} (limit {limit}).",
                order.name(),
                few[i]
            );
            if ratio > limit {
                misses.push(format!("{job}, {}", order.name()));
            }
        }
    }
    misses.is_empty()
}

/// The instructions for a tensor, in the order of [`JOBS`].
fn instructions(tensors: usize, order: Order) -> Option<Vec<f64>> {
    let number = tensors.to_string();
    let arguments = ["growth", order.name(), &number].map(OsStr::new);
    let counts = measure::instructions(&arguments, OURS)?;
    Some(counts.into_iter().map(|count| count as f64 / tensors as f64).collect())
}

/// What callgrind runs.
pub fn count(order: &str, tensors: &str) -> ExitCode {
    let order = Order::ALL.into_iter().find(|known| known.name() == order).unwrap();
    let works: [Run; OURS] = std::array::from_fn(|i| on_head(JOBS[i].0));
    with_input(tensors.parse().unwrap(), order, |input| measure::count(input, &works))
}
