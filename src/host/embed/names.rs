//! Names of tensors as identifiers.

use std::collections::{HashMap, HashSet};
use std::string::String;
use std::vec::Vec;

/// `text` as an identifier of C, C++ and Rust: runs of what is neither an ASCII letter nor a digit become one
/// `_`, at the ends they go, behind 60 characters it is cut, and if nothing is left or a digit would be first, it begins with `model`.
///
/// ```
/// use safetensors_core::host::identifier;
/// assert_eq!(identifier("model.layers.0/weight"), "model_layers_0_weight");
/// assert_eq!(identifier("2 b"), "model_2_b");
/// assert_eq!(identifier("é"), "model");
/// ```
#[must_use]
pub fn identifier(text: &str) -> String {
    let words = words(text);
    match words.chars().next() {
        None => "model".into(),
        Some('0'..='9') => std::format!("model_{words}"),
        Some(_) => words,
    }
}

/// The letters and digits of a text, with one `_` for whatever is between them: two in a row are reserved in
/// C++.
fn words(text: &str) -> String {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    let mut words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    words.truncate(LIMIT);
    words.truncate(words.trim_end_matches('_').len());
    words
}

/// Longer names are cut: what a compiler of C has to tell apart.
const LIMIT: usize = 60;

/// Gives out names, none of them twice.
pub(super) struct Namer {
    taken: HashSet<String>,
    /// How often each name was asked for.
    asked: HashMap<String, u64>,
    /// What every name begins with.
    prefix: String,
    /// What is put behind a name for what belongs to it.
    suffixes: &'static [&'static str],
    uppercase: bool,
}

impl Namer {
    pub(super) fn new(
        prefix: &str,
        suffixes: &'static [&'static str],
        reserved: &[&str],
        uppercase: bool,
    ) -> Self {
        let taken = reserved.iter().map(|name| (*name).into()).collect();
        Self { taken, asked: HashMap::new(), prefix: prefix.into(), suffixes, uppercase }
    }

    /// A name for `text` under `kind`, which may be empty.
    pub(super) fn name(&mut self, kind: &str, text: &str) -> String {
        let words = words(text);
        let words = if words.is_empty() { "unnamed" } else { &words };
        let parts = [&*self.prefix, kind, words].into_iter().filter(|part| !part.is_empty());
        let mut base = parts.collect::<Vec<_>>().join("_");
        if self.uppercase {
            base.make_ascii_uppercase();
        }
        if base.starts_with(|first: char| first.is_ascii_digit()) {
            base.insert_str(0, "T_");
        }
        // From where the last one stopped: many names may become one.
        let number = self.asked.entry(base.clone()).or_insert(0);
        let name = loop {
            *number = number.wrapping_add(1);
            let name = if *number == 1 { base.clone() } else { std::format!("{base}_{number}") };
            let mut suffixes = self.suffixes.iter().chain(&[""]);
            if suffixes.all(|suffix| !self.taken.contains(&std::format!("{name}{suffix}"))) {
                break name;
            }
        };
        for suffix in self.suffixes.iter().chain(&[""]) {
            self.taken.insert(std::format!("{name}{suffix}"));
        }
        name
    }
}
