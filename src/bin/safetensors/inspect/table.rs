//! The tensors, one a line.
//!
//! The name is the last column: it alone may be long or of characters of any width, and at the end
//! it can't push the others out of line.

use std::io::{self, Write};

use safetensors_core::{Index, Shape, TensorInfo};

use crate::numbers::{Share, Size};
use crate::output::Output;
use crate::shown;

/// Longer names are cut.
const NAME_LIMIT: usize = 200;
/// Further dimensions are counted.
const RANK_LIMIT: usize = 8;

pub(super) fn write(index: &Index<'_, '_>, out: &mut Output) -> io::Result<()> {
    if index.is_empty() {
        return Ok(());
    }
    let (mut dtype_width, mut shape_width) = ("dtype".len(), "shape".len());
    for info in index.iter() {
        dtype_width = dtype_width.max(info.dtype().name().len());
        shape_width = shape_width.max(shape(info.shape()).chars().count());
    }
    let heading = out.palette.heading;
    writeln!(
        out,
        "{heading}{:dtype_width$}  {:shape_width$}  {:>8}  {:>7}  name{heading:#}",
        "dtype", "shape", "bytes", "share"
    )?;
    let widths = (dtype_width, shape_width);
    index.iter().try_for_each(|info| write_row(&info, index.data_len(), widths, out))?;
    writeln!(out)
}

fn write_row(
    info: &TensorInfo<'_>,
    total: u64,
    (dtype_width, shape_width): (usize, usize),
    out: &mut Output,
) -> io::Result<()> {
    let (dtype, aside) = (out.palette.dtype, out.palette.aside);
    writeln!(
        out,
        "{dtype}{:dtype_width$}{dtype:#}  {:shape_width$}  {}  {aside}{:>7}{aside:#}  {}",
        info.dtype(),
        shape(info.shape()),
        Size(info.data_len()).aligned(),
        Share { part: info.data_len(), total },
        shown::text(info.name(), NAME_LIMIT),
    )
}

/// As `[2, 3]`.
fn shape(shape: Shape<'_>) -> String {
    let rank = shape.rank();
    if rank <= RANK_LIMIT {
        return shape.to_string();
    }
    let dims: Vec<String> = shape.iter().take(RANK_LIMIT).map(|dim| dim.to_string()).collect();
    format!("[{}, … {} more]", dims.join(", "), rank - RANK_LIMIT)
}
