//! Text that strangers wrote, as a terminal can bear it and a person can read it.

use std::fmt;
use std::path::Path;

use safetensors_core::Text;

/// `text`, cut behind `limit` characters. It stands as it is if all of it is visible; otherwise in
/// quotes, with escapes for what a terminal would act upon or not show.
pub(crate) fn text(text: Text<'_>, limit: usize) -> String {
    // Almost every name.
    if let Some(plain) = text.as_str()
        && (1..=limit).contains(&plain.len())
        && plain.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"')
    {
        return plain.to_owned();
    }
    show(&text.quoted().to_string(), limit)
}

/// The name of a file, as [`text`].
pub(crate) fn path(path: &Path) -> String {
    show(&format!("{path:?}"), usize::MAX)
}

/// The bare text only if it can't be taken for a quoted or a shortened one.
fn show(quoted: &str, limit: usize) -> String {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or("");
    let (mut escaped, mut bare) = (String::new(), String::new());
    let mut visible = true;
    let mut tokens = Tokens(inner);
    for token in tokens.by_ref().take(limit) {
        escaped.push_str(token);
        match token.strip_prefix('\\') {
            None => bare.push_str(token),
            Some(character @ ("\"" | "\\")) => bare.push_str(character),
            Some(_) => visible = false,
        }
    }
    let more = tokens.count();
    let ambiguous = bare.is_empty() || bare.starts_with('"') || bare.contains('…');
    let shown =
        if visible && !ambiguous && bare.trim() == bare { bare } else { format!("\"{escaped}\"") };
    match more {
        0 => shown,
        1 => format!("{shown}… (1 character more)"),
        _ => format!("{shown}… ({more} characters more)"),
    }
}

/// `message` without the middle of a name that is very long: its end says what is wrong.
pub(crate) fn message(message: &dyn fmt::Display) -> String {
    const START: usize = 300;
    const END: usize = 200;
    let message = message.to_string();
    let start = message.char_indices().nth(START).map(|(at, _)| at);
    let end = message.char_indices().rev().nth(END).map(|(at, _)| at);
    match start.zip(end) {
        Some((start, end)) if start < end => {
            format!("{} … {}", &message[..start], &message[end..])
        }
        _ => message,
    }
}

/// The characters and escape sequences of a quoted text.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let first = self.0.chars().next()?;
        let len = match self.0.strip_prefix('\\') {
            None => first.len_utf8(),
            Some(rest) if rest.starts_with("u{") => self.0.find('}')? + 1,
            Some(_) => 2,
        };
        let (token, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(token)
    }
}

/// Whether a terminal shows `character` and does not act upon it.
pub(crate) fn is_visible(character: char) -> bool {
    matches!(character, '"' | '\'' | '\\') || character.escape_debug().len() == 1
}

/// `message` with everything but line ends escaped that is not visible.
pub(crate) fn without_controls(message: &str) -> String {
    let mut safe = String::with_capacity(message.len());
    for character in message.chars() {
        if character == '\n' || is_visible(character) {
            safe.push(character);
        } else {
            safe.extend(character.escape_debug());
        }
    }
    safe
}
