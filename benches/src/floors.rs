//! The floors of ratios.

/// Below which ratio a promise is broken.
#[derive(Clone, Copy)]
pub enum Floor {
    None,
    /// By time, and nine tenths of it by instructions, which the reference has fewer of than its time
    /// tells: it allocates, and waits for memory.
    Both(f64),
    /// Instructions of vectors do more each, so that only time tells.
    Time(f64),
}

/// Remembers which floors were missed.
#[derive(Default)]
pub struct Misses {
    by_time: Vec<String>,
    by_instructions: Vec<String>,
    counted: bool,
}

impl Misses {
    /// Compares the ratios in time and in instructions of what has this name.
    pub fn compare(&mut self, floor: Floor, (time, instructions): (f64, Option<f64>), name: &str) {
        let (by_time, by_instructions) = match floor {
            Floor::None => (0.0, 0.0),
            Floor::Both(floor) => (floor, 0.9 * floor),
            Floor::Time(floor) => (floor, 0.0),
        };
        let miss = |ratio| format!("{name} {ratio:.2}");
        self.counted |= instructions.is_some();
        if time < by_time {
            self.by_time.push(miss(time));
        }
        if let Some(instructions) = instructions.filter(|ratio| *ratio < by_instructions) {
            self.by_instructions.push(miss(instructions));
        }
    }

    /// Prints and returns whether all floors hold, by instructions if there are any.
    pub fn finish(self) -> bool {
        let verdict = |missed: &[String]| match missed {
            [] => "all hold".to_owned(),
            missed => format!("missed: {}", missed.join(", ")),
        };
        println!("By time: {}.", verdict(&self.by_time));
        if !self.counted {
            return self.by_time.is_empty();
        }
        println!("By instructions (9/10 of the floors): {}.", verdict(&self.by_instructions));
        self.by_instructions.is_empty()
    }
}
