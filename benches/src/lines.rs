//! Lines of a table.

/// Prints a line: a name, `narrow` narrow cells, and wide ones.
pub fn print<'a>(markdown: bool, narrow: usize, cells: impl IntoIterator<Item = &'a String>) {
    let mut line = String::new();
    for (i, cell) in cells.into_iter().enumerate() {
        line += &match (markdown, i) {
            (true, 0) => format!("| {cell} |"),
            (true, _) => format!(" {cell} |"),
            (false, 0) => format!("{cell:26}"),
            (false, i) if i <= narrow => format!("{cell:>8}"),
            (false, _) => format!("{cell:>12}"),
        };
    }
    println!("{line}");
}

/// Prints the first line.
pub fn print_heads(markdown: bool, narrow: usize, heads: &[String]) {
    print(markdown, narrow, heads);
    if markdown {
        println!("|---|{}", "---:|".repeat(heads.len() - 1));
    }
}

/// A ratio of times, and in parentheses of instructions.
pub fn ratios(time: f64, instructions: Option<f64>) -> String {
    match instructions {
        Some(instructions) => format!("{} ({})", ratio(time), ratio(instructions)),
        None => ratio(time),
    }
}

/// With two digits and more.
fn ratio(ratio: f64) -> String {
    match ratio {
        0.0..0.995 => format!("{ratio:.2}"),
        0.995..99.95 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}
