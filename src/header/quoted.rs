//! Text as a terminal can bear it.

use core::fmt::{self, Write};

use super::text::Text;
use crate::digits::Hex;

/// A [`Text`] in quotes that is safe to send to a terminal; made by [`Text::quoted`].
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'data>(Text<'data>);

impl<'data> Quoted<'data> {
    pub(super) const fn new(text: Text<'data>) -> Self {
        Self(text)
    }

    #[cfg(feature = "defmt")]
    pub(crate) const fn text(&self) -> Text<'data> {
        self.0
    }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match Shown::of(character) {
                Shown::Itself => f.write_char(character)?,
                Shown::Escape(escape) => f.write_str(escape)?,
                Shown::Code => {
                    f.write_str("\\u{")?;
                    Hex(u32::from(character)).fmt(f)?;
                    f.write_str("}")?;
                }
            }
        }
        f.write_char('"')
    }
}

/// How a character is shown in quotes.
pub(crate) enum Shown {
    Itself,
    Escape(&'static str),
    /// As `\u{…}`.
    Code,
}

impl Shown {
    pub(crate) const fn of(character: char) -> Self {
        match character {
            '"' => Self::Escape("\\\""),
            '\\' => Self::Escape("\\\\"),
            '\n' => Self::Escape("\\n"),
            '\r' => Self::Escape("\\r"),
            '\t' => Self::Escape("\\t"),
            _ if is_misleading(character) => Self::Code,
            _ => Self::Itself,
        }
    }
}

/// Whether a terminal or a reader could be misled by `character`: it acts instead of showing
/// something (controls, of which bidirectional ones reorder what stands around them), or shows
/// nothing at all. Source: Unicode 16, general categories Cc and Cf, Zl and Zp, and the fillers.
const fn is_misleading(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{115f}'..='\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
