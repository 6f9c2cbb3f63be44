//! The streams that the command writes to: colours, closed pipes, exit codes.

use std::fmt;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;

use anstream::AutoStream;
use anstyle::{AnsiColor, Effects, Style};
use safetensors_core::StreamError;
use safetensors_core::host::LoadError;

use crate::shown;

/// What the command found, from the best to the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Fine,
    Invalid,
    Unreadable,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Fine => 0,
            Outcome::Invalid => 1,
            Outcome::Unreadable => 2,
        })
    }
}

/// The styles of the output. Without colours they are empty.
#[derive(Default)]
pub(crate) struct Palette {
    pub(crate) heading: Style,
    pub(crate) dtype: Style,
    pub(crate) aside: Style,
    pub(crate) good: Style,
    pub(crate) warning: Style,
    pub(crate) bad: Style,
}

impl Palette {
    const COLOURS: Self = Self {
        heading: Style::new().effects(Effects::BOLD),
        dtype: AnsiColor::Cyan.on_default(),
        aside: Style::new().effects(Effects::DIMMED),
        good: AnsiColor::Green.on_default(),
        warning: AnsiColor::Yellow.on_default(),
        bad: AnsiColor::Red.on_default().effects(Effects::BOLD),
    };
}

/// Standard output.
pub(crate) struct Output {
    writer: BufWriter<Lenient<AutoStream<StdoutLock<'static>>>>,
    pub(crate) palette: Palette,
}

impl Output {
    /// Writes what is not to be looked at but to be used: every byte, control characters too.
    pub(crate) fn write_exactly(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.flush()?;
        let mut stdout = Lenient::new(io::stdout().lock());
        stdout.write_all(bytes)?;
        stdout.flush()
    }
}

/// Standard output, with colours if it is a terminal.
pub(crate) fn stdout() -> Output {
    let stdout = AutoStream::auto(io::stdout().lock());
    // Stripping styles again would cut the output into many small writes.
    let palette = match stdout.current_choice() {
        anstream::ColorChoice::Never => Palette::default(),
        _ => Palette::COLOURS,
    };
    Output { writer: BufWriter::with_capacity(1 << 16, Lenient::new(stdout)), palette }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A writer that goes on in silence when nobody reads any more, as behind `| head`: the exit code
/// still tells what was found.
struct Lenient<W> {
    inner: W,
    closed: bool,
}

impl<W> Lenient<W> {
    fn new(inner: W) -> Self {
        Self { inner, closed: false }
    }

    fn forgive<T>(&mut self, result: io::Result<T>, instead: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(instead)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Lenient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let result = self.inner.write(bytes);
        self.forgive(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.flush();
        self.forgive(result, ())
    }
}

/// Writes a line to standard error.
pub(crate) fn complain(line: fmt::Arguments<'_>) {
    // In one piece. If that fails there is nobody left to tell.
    let _ = anstream::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes `FILE: LABEL: …` to standard error, with the label in red.
pub(crate) fn complain_bad(file: &str, label: &str, what: &dyn fmt::Display) {
    complain_styled(Palette::COLOURS.bad, file, label, what);
}

/// Says why a file was not loaded.
pub(crate) fn refuse(path: &Path, error: &LoadError) -> Outcome {
    let (label, outcome) = match error {
        LoadError::Invalid(_) => ("invalid", Outcome::Invalid),
        _ => ("cannot be read", Outcome::Unreadable),
    };
    complain_bad(&shown::path(path), label, error);
    outcome
}

/// What it means that a file was not written: that it can't be, or that the one which was read is not valid.
pub(crate) fn outcome(error: &StreamError<io::Error>) -> Outcome {
    match error {
        StreamError::Sink(error)
            if error.get_ref().is_some_and(|error| error.is::<LoadError>()) =>
        {
            Outcome::Invalid
        }
        _ => Outcome::Unreadable,
    }
}

/// Writes `FILE: warning: …` to standard error, with the label in yellow.
pub(crate) fn warn(file: &str, what: &dyn fmt::Display) {
    complain_styled(Palette::COLOURS.warning, file, "warning", what);
}

fn complain_styled(style: Style, file: &str, label: &str, what: &dyn fmt::Display) {
    complain(format_args!("{file}: {style}{label}{style:#}: {}", shown::message(what)));
}
