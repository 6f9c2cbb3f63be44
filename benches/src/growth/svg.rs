//! The few shapes of SVG that the picture is made of.

use std::fmt::{Display, Write};

/// A picture that grows; what a class looks like is said in its style.
pub struct Svg(String);

impl Svg {
    /// A picture of this size. Style and classes are of its `id`, so that it can stand in a page.
    pub fn new(id: &str, [width, height]: [f64; 2], title: &str, about: &str, style: &str) -> Self {
        Self(format!(
            "<svg id=\"{id}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" role=\"img\" aria-labelledby=\"{id}-title {id}-about\">\n\
             <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-about\">{about}</desc>\n\
             <style>\n{style}</style>\n"
        ))
    }

    pub fn text(&mut self, class: &str, [x, y]: [f64; 2], text: impl Display) {
        self.shape(format_args!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"));
    }

    pub fn line(&mut self, class: &str, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2]) {
        let path = format_args!("M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}");
        self.shape(format_args!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    pub fn rect(&mut self, class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2]) {
        let place = format_args!("x=\"{x:.1}\" y=\"{y:.1}\"");
        let size = format_args!("width=\"{width:.1}\" height=\"{height:.1}\"");
        self.shape(format_args!("<rect class=\"{class}\" {place} {size}/>"));
    }

    pub fn circle(&mut self, class: &str, [x, y]: [f64; 2], radius: f64) {
        let place = format_args!("cx=\"{x:.1}\" cy=\"{y:.1}\"");
        self.shape(format_args!("<circle class=\"{class}\" {place} r=\"{radius}\"/>"));
    }

    /// A line through all points.
    pub fn curve(&mut self, class: &str, points: &[[f64; 2]]) {
        let points: Vec<_> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        self.shape(format_args!("<polyline class=\"{class}\" points=\"{points}\"/>"));
    }

    fn shape(&mut self, shape: impl Display) {
        writeln!(self.0, "{shape}").unwrap();
    }

    pub fn finish(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// An axis whose ticks are powers of ten.
pub struct LogAxis {
    /// The exponents of the first tick and of the last.
    decades: [i32; 2],
    /// Where these are.
    ends: [f64; 2],
}

impl LogAxis {
    /// One that has room for all values.
    pub fn around(values: impl Iterator<Item = f64>, ends: [f64; 2]) -> Self {
        let (least, most) = values.fold((f64::MAX, f64::MIN_POSITIVE), |(least, most), value| {
            (value.min(least), value.max(most))
        });
        let first = least.log10().floor() as i32;
        Self { decades: [first, (most.log10().ceil() as i32).max(first + 1)], ends }
    }

    pub fn place(&self, value: f64) -> f64 {
        let [first, last] = self.decades.map(f64::from);
        let [start, end] = self.ends;
        start + (value.log10() - first) / (last - first) * (end - start)
    }

    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let [first, last] = self.decades;
        (first..=last).map(|exponent| 10_f64.powi(exponent))
    }
}
