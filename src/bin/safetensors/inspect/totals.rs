//! What the tensors come to, by dtype and in all.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;
use safetensors_core::{Dtype, Index};

use crate::numbers::{Grouped, Share, Size};
use crate::output::Output;

/// The sums over some tensors.
#[derive(Clone, Copy, Default)]
struct Tally {
    tensors: u128,
    /// Up to two for each byte of 64 bits of them.
    parameters: u128,
    bytes: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.tensors += other.tensors;
        self.parameters += other.parameters;
        // Does not overflow: the tensors lie one behind the other in 64 bits.
        self.bytes += other.bytes;
    }
}

pub(super) fn write(index: &Index<'_, '_>, out: &mut Output) -> io::Result<()> {
    let (mut by_dtype, mut total) = (BTreeMap::<Dtype, Tally>::new(), Tally::default());
    for info in index.iter() {
        let parameters = u128::from(info.shape().element_count());
        let tally = Tally { tensors: 1, parameters, bytes: info.data_len() };
        by_dtype.entry(info.dtype()).or_default().add(tally);
        total.add(tally);
    }
    let mut by_dtype: Vec<_> = by_dtype.into_iter().collect();
    by_dtype.sort_by_key(|(_, tally)| Reverse(tally.bytes));

    let label_width = by_dtype.iter().map(|(dtype, _)| dtype.name().len()).max();
    let widths = [
        label_width.unwrap_or(0).max("dtype".len()),
        "tensors".len().max(Grouped(total.tensors).to_string().len()),
        "parameters".len().max(Grouped(total.parameters).to_string().len()),
    ];
    let heading = out.palette.heading;
    let [label, tensors, parameters] = widths;
    writeln!(
        out,
        "{heading}{:label$}  {:>tensors$}  {:>parameters$}  {:>8}  {:>7}{heading:#}",
        "dtype", "tensors", "parameters", "bytes", "share"
    )?;
    for (dtype, tally) in by_dtype {
        write_row((dtype.name(), out.palette.dtype), tally, total.bytes, widths, out)?;
    }
    write_row(("total", Style::new()), total, total.bytes, widths, out)?;
    writeln!(out)
}

fn write_row(
    (label, style): (&str, Style),
    tally: Tally,
    total: u64,
    [label_width, tensors, parameters]: [usize; 3],
    out: &mut Output,
) -> io::Result<()> {
    let aside = out.palette.aside;
    let bytes = Size(tally.bytes).aligned();
    let share = Share { part: tally.bytes, total };
    write!(out, "{style}{label:label_width$}{style:#}  {:>tensors$}", Grouped(tally.tensors))?;
    write!(out, "  {:>parameters$}  {bytes}", Grouped(tally.parameters))?;
    writeln!(out, "  {aside}{share:>7}{aside:#}")
}
