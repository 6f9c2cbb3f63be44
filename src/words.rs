//! Words of messages: once in the source, and two ways out of it.

/// What stands before a number, behind it if it is one, and behind every other.
pub(crate) type NumberWords<T> = (T, T, T);

/// A `match` whose arms are words, as two functions: of text for `core::fmt`, and with the feature `defmt`
/// of words that are interned: they stand in the ELF file, and a number for them in the program.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        $visibility:vis const fn $text:ident(self) -> $words:ty, $interned:ident() -> $strs:ty {
            $($kinds:pat => $arm:tt,)+
        }
    ) => {
        $(#[$attribute])*
        $visibility const fn $text(self) -> $words {
            match self {
                $($kinds => words!(@ identity $arm),)+
            }
        }

        #[cfg(feature = "defmt")]
        #[inline]
        pub(crate) fn $interned(self) -> $strs {
            match self {
                $($kinds => words!(@ intern $arm),)+
            }
        }
    };
    (@ $how:ident None) => { None };
    (@ $how:ident ($($words:literal),+)) => { Some(($(words!(@ $how $words)),+)) };
    (@ identity $words:literal) => { $words };
    (@ intern $words:literal) => { defmt::intern!($words) };
}

pub(crate) use words;
