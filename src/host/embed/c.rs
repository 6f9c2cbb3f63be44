//! C99 and later, C++11 and later.

use core::fmt::Write as _;
use std::borrow::ToOwned;
use std::format;
use std::io::{self, BufWriter, Write};
use std::string::{String, ToString};
use std::vec::Vec;

use super::names::Namer;
use super::values::{self, Language, size_of_number};
use super::{Embed, MAX_RANK, Pair, Tensor, comment, description};
use crate::Dtype;

/// What there is for each tensor besides its array.
const SUFFIXES: &[&str] = &[
    "_RANK", "_LEN", "_SIZE", "_DIM0", "_DIM1", "_DIM2", "_DIM3", "_DIM4", "_DIM5", "_DIM6",
    "_DIM7", "_DIM8", "_DIM9", "_DIM10",
];

pub(super) fn header(embed: &Embed, out: impl Write) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    let (tensors, pairs) = named(embed);
    let prefix = &embed.prefix;
    let guard = format!("{prefix}_H");
    writeln!(out, "/* {} */", embed.notice())?;
    writeln!(out, "#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n")?;
    writeln!(out, "{}", ASSERT.replace("PREFIX", prefix))?;
    writeln!(out, "#ifdef __cplusplus\nextern \"C\" {{\n#endif")?;
    for tensor in &tensors {
        declare(prefix, tensor, out)?;
    }
    for pair in &pairs {
        let (name, len) = (&pair.name, pair.value.len());
        writeln!(out, "\n/* metadata {} */", comment(&pair.key))?;
        writeln!(out, "#define {name}_LEN {len}")?;
        writeln!(out, "extern const char {name}[{}];", len.saturating_add(1))?;
    }
    writeln!(out, "\n#ifdef __cplusplus\n}}\n#endif\n\n#endif")?;
    out.flush()
}

/// An assertion for each dialect. In C99 it is an array whose length may not be negative.
const ASSERT: &str = "\
#if defined(__cplusplus)
#define PREFIX_ASSERT(condition, text) static_assert(condition, text)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define PREFIX_ASSERT(condition, text) _Static_assert(condition, text)
#else
#define PREFIX_ASSERT(condition, text) extern const char PREFIX_assertion[(condition) ? 1 : -1]
#endif
";

/// GCC and Clang need no header for them, which a microcontroller may not have.
const NOT_FINITE: &str = "\
#if defined(__GNUC__)
#define EMBED_NAN __builtin_nanf(\"\")
#define EMBED_INFINITY __builtin_inff()
#else
#include <math.h>
#define EMBED_NAN NAN
#define EMBED_INFINITY INFINITY
#endif
";

fn declare(prefix: &str, tensor: &Tensor<'_>, out: &mut impl Write) -> io::Result<()> {
    let (name, info) = (&tensor.name, &tensor.info);
    writeln!(out, "\n/* {} */", description(info))?;
    writeln!(out, "#define {name}_RANK {}", info.shape().rank())?;
    for (axis, dim) in info.shape().iter().enumerate().take(MAX_RANK) {
        writeln!(out, "#define {name}_DIM{axis} {dim}")?;
    }
    writeln!(out, "#define {name}_LEN {}", info.shape().element_count())?;
    writeln!(out, "#define {name}_SIZE {}", info.data_len())?;
    if info.data_len() == 0 {
        return writeln!(out, "/* C has no arrays without elements. */");
    }
    writeln!(out, "extern const {};", declarator(tensor))?;
    writeln!(out, "{prefix}_ASSERT(sizeof {name} == {name}_SIZE, \"size of {name}\");")
}

pub(super) fn source(embed: &Embed, header: &str, out: impl Write) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    let (tensors, pairs) = named(embed);
    let prefix = &embed.prefix;
    // The name of a file may not end the string either.
    let header: String = header.chars().filter(|c| !"\"\\\n\r".contains(*c)).collect();
    writeln!(out, "/* {} */", embed.notice())?;
    writeln!(out, "#include \"{header}\"\n\n{NOT_FINITE}")?;
    let section = embed.section.as_ref().map(|name| format!(", section(\"{name}\")"));
    let attributes = format!("aligned({}){}", embed.align, section.unwrap_or_default());
    writeln!(out, "#if defined(__GNUC__)")?;
    writeln!(out, "#define {prefix}_PLACED __attribute__(({attributes}))")?;
    writeln!(out, "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L")?;
    writeln!(out, "#define {prefix}_PLACED _Alignas({})", embed.align)?;
    writeln!(out, "#else\n#error \"the compiler can't align\"\n#endif")?;
    for tensor in tensors.iter().filter(|tensor| tensor.info.data_len() > 0) {
        write!(out, "\n{prefix}_PLACED const {} =\n", declarator(tensor))?;
        values::write::<C>(&embed.file, tensor, out)?;
        writeln!(out, ";")?;
    }
    for Pair { name, value, .. } in &pairs {
        writeln!(
            out,
            "\nconst char {name}[{}] =\n{};",
            value.len().saturating_add(1),
            text(value)
        )?;
    }
    out.flush()
}

/// The type and the name, as `float x[2][3]`.
fn declarator(tensor: &Tensor<'_>) -> String {
    let number = match tensor.info.dtype() {
        Dtype::F64 => "double",
        Dtype::F32 | Dtype::C64 => "float",
        Dtype::I8 => "int8_t",
        Dtype::I16 => "int16_t",
        Dtype::I32 => "int32_t",
        Dtype::I64 => "int64_t",
        Dtype::U16 | Dtype::F16 | Dtype::BF16 => "uint16_t",
        Dtype::U32 => "uint32_t",
        Dtype::U64 => "uint64_t",
        _ => "uint8_t",
    };
    let mut declarator = format!("{number} {}", tensor.name);
    tensor.dims.iter().for_each(|dim| {
        let _ = write!(declarator, "[{dim}]");
    });
    declarator
}

fn named(embed: &Embed) -> (Vec<Tensor<'_>>, Vec<Pair<'_>>) {
    let prefix = &embed.prefix;
    let own = ["H", "ASSERT", "assertion", "PLACED"].map(|name| format!("{prefix}_{name}"));
    let own = own.iter().map(|name| &**name);
    let own: Vec<&str> = own.chain(["EMBED_NAN", "EMBED_INFINITY"]).collect();
    let mut namer = Namer::new(prefix, SUFFIXES, &own, false);
    let tensors = embed.tensors(|text| namer.name("", text));
    let pairs = embed.pairs(|text| namer.name("metadata", text));
    (tensors, pairs)
}

/// A value of the metadata with a NUL behind it: as a string, or one by one if it is longer than a string may
/// be in C99.
fn text(value: &crate::Text<'_>) -> String {
    const LIMIT: usize = 4000;
    let bytes = value.to_string().into_bytes();
    if bytes.len() > LIMIT {
        let bytes: Vec<_> = bytes.iter().chain(&[0]).map(|byte| spelled(*byte)).collect();
        let lines: Vec<_> = bytes.chunks(24).map(|line| line.join(",")).collect();
        return format!("{{{}}}", lines.join(",\n"));
    }
    let mut text = "\"".to_owned();
    for byte in bytes {
        match byte {
            // What is not escaped could be a trigraph.
            b'"' | b'\\' | b'?' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            // Three digits always, so that one behind them is none of theirs.
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text + "\""
}

/// A byte as a number that a `char` can be, signed or not.
fn spelled(byte: u8) -> String {
    if byte < 0x80 { byte.to_string() } else { format!("'\\{byte:03o}'") }
}

struct C;

impl Language for C {
    const OPEN: &str = "{";
    const CLOSE: &str = "}";

    fn number(dtype: Dtype, bytes: &[u8], to: &mut String) {
        let bits = values::bits(bytes);
        let _ = match (dtype, size_of_number(dtype)) {
            (Dtype::F64, _) => float(bits, 52, 11, "", to),
            (Dtype::F32 | Dtype::C64, _) => float(bits, 23, 8, "f", to),
            (Dtype::I8, _) => write!(to, "{}", values::signed(bits, 8)),
            (Dtype::I16, _) => write!(to, "{}", values::signed(bits, 16)),
            // The least ones have no literal of their own type.
            (Dtype::I32, _) if bits == 1 << 31 => write!(to, "INT32_MIN"),
            (Dtype::I32, _) => write!(to, "{}", values::signed(bits, 32)),
            (Dtype::I64, _) if bits == 1 << 63 => write!(to, "INT64_MIN"),
            (Dtype::I64, _) => write!(to, "{}LL", values::signed(bits, 64)),
            (Dtype::U64, _) => write!(to, "{bits}ULL"),
            (Dtype::U32, _) => write!(to, "{bits}U"),
            // Codes and small integers.
            (_, 2) if dtype != Dtype::U16 => write!(to, "0x{bits:04x}"),
            (_, 1) if dtype != Dtype::U8 && dtype != Dtype::BOOL => write!(to, "0x{bits:02x}"),
            _ => write!(to, "{bits}"),
        };
    }
}

/// A float of so many bits as hexadecimal, which is exact.
fn float(
    bits: u64,
    mantissa: u32,
    exponent: u32,
    suffix: &str,
    to: &mut String,
) -> core::fmt::Result {
    let field = |low: u32, len: u32| (bits >> low) & ((1_u64 << len).wrapping_sub(1));
    let sign = if field(mantissa.wrapping_add(exponent), 1) == 1 { "-" } else { "" };
    let (fraction, biased) = (field(0, mantissa), field(mantissa, exponent));
    let most = (1_u64 << exponent).wrapping_sub(1);
    match (biased, fraction) {
        // These are floats, which as doubles are the same.
        (_, 0) if biased == most => return write!(to, "{sign}EMBED_INFINITY"),
        _ if biased == most => return write!(to, "{sign}EMBED_NAN"),
        _ => {}
    }
    let bias = i64::try_from(most >> 1).unwrap_or(0);
    let power = i64::try_from(biased.max(1)).unwrap_or(0).wrapping_sub(bias);
    let power = if (biased, fraction) == (0, 0) { 0 } else { power };
    let whole = u32::from(biased > 0);
    // In hexadecimal digits, without zeros at the end.
    let digits = mantissa.div_ceil(4);
    let shifted = fraction << digits.wrapping_mul(4).wrapping_sub(mantissa);
    let digits = format!("{shifted:0width$x}", width = usize::try_from(digits).unwrap_or(0));
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    write!(to, "{sign}0x{whole}{point}{digits}p{power}{suffix}")
}
