//! The tables as a picture.

use super::hostile::{BUDGET, Bar};
use super::models::Order;
use super::svg::{LogAxis, Svg};
use super::tensors::{JOBS, Point};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 742.0;

const TITLE: &str = "How the cost of reading a header grows";

/// What the lines look like, in the order of `JOBS`.
const CLASSES: [&str; 5] = ["scan", "parse", "look", "ref", "ref2"];

/// Light, then dark. The background is the picture's own, as a page may have another scheme than
/// the system.
const STYLE: &str = "\
#growth{font:12px system-ui,sans-serif;max-width:100%;height:auto}
#growth text{fill:#1f2328}
#growth .bold{font-weight:600;font-size:14px}
#growth .soft{fill:#59636e;font-size:11px}
#growth .mid{text-anchor:middle}
#growth .end{text-anchor:end}
#growth .ground{fill:#fff}
#growth .grid{stroke:#d8dee4}
#growth .budget{stroke:#cf222e;stroke-width:1.5;stroke-dasharray:5 3}
#growth text.limit{fill:#cf222e;font-size:11px}
#growth polyline{fill:none;stroke-width:2}
#growth .scan{stroke:#1a7f37}
#growth .parse{stroke:#0969da}
#growth .look{stroke:#8250df}
#growth .ref,#growth .ref2{stroke:#bc4c00;stroke-dasharray:6 3}
#growth .ref2{stroke:#9a6700;stroke-dasharray:2 3}
#growth text[class]{stroke:none}
#growth text.scan{fill:#1a7f37}
#growth text.parse{fill:#0969da}
#growth text.look{fill:#8250df}
#growth text.ref{fill:#bc4c00}
#growth text.ref2{fill:#7d5600}
#growth .ours{fill:#0969da}
#growth .theirs{fill:#e8a06d}
#growth .tenth{fill:#fff;stroke:#1f2328;stroke-width:1.5}
@media (prefers-color-scheme:dark){
#growth text{fill:#e6edf3}
#growth .soft{fill:#9198a1}
#growth .ground{fill:#0d1117}
#growth .grid{stroke:#30363d}
#growth .budget{stroke:#ff7b72}
#growth text.limit{fill:#ff7b72}
#growth .scan{stroke:#3fb950}
#growth .parse{stroke:#58a6ff}
#growth .look{stroke:#bc8cff}
#growth .ref{stroke:#f0883e}
#growth .ref2{stroke:#d29922}
#growth text.scan{fill:#3fb950}
#growth text.parse{fill:#58a6ff}
#growth text.look{fill:#bc8cff}
#growth text.ref{fill:#f0883e}
#growth text.ref2{fill:#d29922}
#growth .ours{fill:#388bfd}
#growth .theirs{fill:#8a4b1d}
#growth .tenth{fill:#0d1117;stroke:#e6edf3}
}
";

/// Draws both tables.
pub fn draw(points: &[Point], bars: &[Bar]) -> String {
    let mut svg = Svg::new("growth", [WIDTH, HEIGHT], TITLE, &about(points, bars), STYLE);
    svg.rect("ground", [0.0, 0.0], [WIDTH, HEIGHT]);
    svg.text("bold", [16.0, 26.0], "Number of tensors");
    svg.text("soft", [16.0, 44.0], "Time for each tensor. A level line is linear cost.");
    for (order, top) in Order::ALL.into_iter().zip([72.0, 408.0]) {
        let points: Vec<_> = points.iter().filter(|point| point.order == order).collect();
        if !points.is_empty() {
            draw_tensors(&mut svg, &points, order, top);
        }
    }
    svg.text("bold", [456.0, 26.0], "The worst headers");
    draw_hostile(&mut svg, bars, 98.0);
    svg.finish()
}

/// For those who can't see it.
fn about(points: &[Point], bars: &[Bar]) -> String {
    let mut about =
        "Left: nanoseconds for each tensor of a header, by their number, in offset order \
                     and shuffled, for scan, parse and look-up, and for the safetensors crate."
            .to_owned();
    let mut parses: Vec<f64> = points.iter().map(|point| point.times[1]).collect();
    parses.sort_by(f64::total_cmp);
    if let [least, .., most] = parses[..] {
        about += &format!(" A parse takes between {least:.0} and {most:.0}.");
    }
    about += " Right: seconds for 100 MB of header that were made to be slow, beside the safetensors crate.";
    if let Some(worst) = bars.iter().max_by(|a, b| a.ours().total_cmp(&b.ours())) {
        about += &format!(" The slowest, “{}”, takes {}.", worst.name, round(worst.ours()));
    }
    about + &format!(" The budget is {BUDGET}.")
}

/// The height and the ends of a chart of lines.
const LINES: f64 = 276.0;
const LINES_ENDS: [f64; 2] = [56.0, 302.0];

fn draw_tensors(svg: &mut Svg, points: &[&Point], order: Order, top: f64) {
    let bottom = top + LINES;
    let [left, right] = LINES_ENDS;
    let x = LogAxis::around(points.iter().map(|point| point.tensors as f64), LINES_ENDS);
    let y = LogAxis::around(points.iter().flat_map(|point| point.times.clone()), [bottom, top]);
    for tick in x.ticks() {
        svg.line("grid", [x.place(tick), top], [x.place(tick), bottom]);
        svg.text("soft mid", [x.place(tick), bottom + 16.0], unit(tick, ["", " k", " M"]));
    }
    for tick in y.ticks() {
        svg.line("grid", [left, y.place(tick)], [right, y.place(tick)]);
        svg.text("soft end", [left - 6.0, y.place(tick) + 4.0], unit(tick, [" ns", " µs", " ms"]));
    }
    svg.text(
        "soft mid",
        [(left + right) / 2.0, bottom + 34.0],
        format!("tensors, {}", order.name()),
    );
    let mut labels = Vec::new();
    for (i, class) in CLASSES.into_iter().enumerate() {
        let curve: Vec<_> = points
            .iter()
            .map(|point| [x.place(point.tensors as f64), y.place(point.times[i])])
            .collect();
        labels.extend(curve.last().map(|[_, y]| (*y, class, JOBS[i].2)));
        svg.curve(class, &curve);
    }
    // From the bottom up, and none on another.
    labels.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut free = bottom;
    for (y, class, label) in labels {
        let y = y.min(free);
        free = y - 14.0;
        svg.text(class, [right + 8.0, y + 4.0], label);
    }
}

const BARS_ENDS: [f64; 2] = [636.0, 836.0];
/// The right end of the numbers.
const NUMBERS: f64 = 884.0;
/// From one header to the next.
const ROW: f64 = 18.5;

fn draw_hostile(svg: &mut Svg, bars: &[Bar], top: f64) {
    let bottom = top + ROW * bars.len() as f64;
    let values = bars.iter().flat_map(|bar| bar.costs.iter().flatten().copied());
    let x = LogAxis::around(values.chain([BUDGET]), BARS_ENDS);
    svg.text(
        "soft",
        [456.0, 44.0],
        "Seconds for 100 MB of header. A circle at the end of its bar is linear cost.",
    );
    svg.rect("ours", [456.0, 56.0], [18.0, 7.0]);
    svg.text("soft", [480.0, 64.0], "this crate");
    svg.rect("theirs", [552.0, 57.0], [18.0, 5.0]);
    svg.text("soft", [576.0, 64.0], "safetensors crate");
    svg.circle("tenth", [686.0, 60.0], 3.0);
    svg.text("soft", [696.0, 64.0], "10 MB, ten times its time");
    for tick in x.ticks() {
        svg.line("grid", [x.place(tick), top], [x.place(tick), bottom]);
        svg.text("soft mid", [x.place(tick), bottom + 16.0], tick);
    }
    let start = BARS_ENDS[0];
    for (i, bar) in bars.iter().enumerate() {
        let y = top + ROW * i as f64;
        svg.text("end", [start - 8.0, y + 13.0], bar.name);
        let (tenth, whole) = (&bar.costs[0], &bar.costs[1]);
        svg.rect("ours", [start, y + 3.0], [x.place(whole[0]) - start, 7.0]);
        svg.rect("theirs", [start, y + 11.0], [x.place(whole[1]) - start, 5.0]);
        svg.circle("tenth", [x.place(tenth[0]), y + 6.5], 3.0);
        svg.circle("tenth", [x.place(tenth[1]), y + 13.5], 2.0);
        svg.text("end", [NUMBERS, y + 13.0], round(bar.ours()));
    }
    svg.text("parse end", [NUMBERS, top - 12.0], "seconds");
    let budget = x.place(BUDGET);
    svg.line("budget", [budget, top - 6.0], [budget, bottom]);
    svg.text("limit mid", [budget, top - 12.0], format!("budget: {BUDGET} s"));
}

/// With two digits that count.
fn round(seconds: f64) -> String {
    let decimals = if seconds < 0.1 {
        3
    } else if seconds < 1.0 {
        2
    } else {
        1
    };
    format!("{seconds:.decimals$}")
}

/// With the unit for as it is, for thousands, for millions.
fn unit(value: f64, units: [&str; 3]) -> String {
    match value {
        ..1e3 => format!("{value}{}", units[0]),
        ..1e6 => format!("{}{}", value / 1e3, units[1]),
        _ => format!("{}{}", value / 1e6, units[2]),
    }
}
