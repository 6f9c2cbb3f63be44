//! Numbers as a person likes to read them.

use std::fmt;

/// Bytes with a decimal unit and four digits, as `1.853 GB`; exact below 10,000.
#[derive(Clone, Copy)]
pub(crate) struct Size(pub(crate) u64);

/// A number with a comma after each three digits.
#[derive(Clone, Copy)]
pub(crate) struct Grouped(pub(crate) u128);

/// How many percent of a total a part is.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub(crate) part: u64,
    pub(crate) total: u64,
}

/// The thing counted, in the singular for one.
pub(crate) struct Count(pub(crate) usize, pub(crate) &'static str);

const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];

impl Size {
    /// The digits and the unit.
    fn parts(self) -> (String, &'static str) {
        let mut digits = self.0.to_string();
        if digits.len() <= 3 {
            return (digits, UNITS[0]);
        }
        let mut scale = digits.len();
        if scale > 4 {
            let step = 10_u64.pow(scale as u32 - 4);
            digits = (self.0 / step + u64::from(self.0 % step >= step / 2)).to_string();
            // Rounding up may give a fifth digit, a zero.
            scale += digits.len() - 4;
            digits.truncate(4);
        }
        digits.insert((scale - 1) % 3 + 1, '.');
        if digits.ends_with('.') {
            digits.pop();
        }
        (digits, UNITS[(scale - 1) / 3])
    }

    /// With points and units that stand one below the other, 8 wide.
    pub(crate) fn aligned(self) -> String {
        let (digits, unit) = self.parts();
        format!("{digits:>5} {unit:<2}")
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (digits, unit) = self.parts();
        write!(f, "{digits} {unit}")
    }
}

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut grouped = String::with_capacity(digits.len() * 4 / 3);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        f.pad(&grouped)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, total) = (u128::from(self.part), u128::from(self.total));
        let Some(hundredths) = (part * 10_000 + total / 2).checked_div(total) else {
            return f.pad("-");
        };
        if hundredths == 0 && part > 0 {
            return f.pad("<0.01%");
        }
        f.pad(&format!("{}.{:02}%", hundredths / 100, hundredths % 100))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", Grouped(self.0 as u128), self.1)
    }
}
