//! A module of Rust.

use core::fmt::Write as _;
use std::format;
use std::io::{self, BufWriter, Write};
use std::string::String;

use super::names::Namer;
use super::values::{self, Language, size_of_number};
use super::{Embed, comment, description};
use crate::{Dtype, raw};

pub(super) fn module(embed: &Embed, out: impl Write) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    let mut namer = Namer::new("", &["_DATA"], &[], true);
    let tensors = embed.tensors(|text| namer.name("", text));
    let pairs = embed.pairs(|text| namer.name("metadata", text));
    writeln!(out, "//! {}\n#![allow(dead_code)]\n", embed.notice())?;
    writeln!(out, "/// Data that begins at a multiple of {} bytes.", embed.align)?;
    writeln!(out, "#[repr(C, align({}))]\nstruct Aligned<T>(T);", embed.align)?;
    for tensor in &tensors {
        let name = &tensor.name;
        let array = nested(number(tensor.info.dtype()), &tensor.dims);
        writeln!(out, "\n/// {}", description(&tensor.info))?;
        writeln!(out, "pub static {name}: &{array} = &{name}_DATA.0;\n")?;
        if let Some(section) = &embed.section {
            writeln!(out, "#[unsafe(link_section = \"{section}\")]")?;
        }
        writeln!(out, "#[rustfmt::skip]\nstatic {name}_DATA: Aligned<{array}> = Aligned(")?;
        if tensor.info.data_len() == 0 {
            // Of zero lengths the type says everything.
            write!(out, "{}", nested(zero(tensor.info.dtype()), &tensor.dims))?;
        } else {
            values::write::<Rust>(&embed.file, tensor, out)?;
        }
        writeln!(out, ");\n")?;
        let size = tensor.info.data_len();
        writeln!(out, "const _: () = assert!(core::mem::size_of::<{array}>() == {size});")?;
    }
    for pair in &pairs {
        let value: String = pair.value.chars().flat_map(char::escape_default).collect();
        writeln!(out, "\n/// metadata {}", comment(&pair.key))?;
        writeln!(out, "pub const {}: &str = \"{value}\";", pair.name)?;
    }
    out.flush()
}

/// A number or its type in arrays of these lengths.
fn nested(number: &str, dims: &[u64]) -> String {
    dims.iter().rev().fold(number.into(), |array, dim| format!("[{array}; {dim}]"))
}

/// The type of one number.
fn number(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F64 => "f64",
        Dtype::F32 | Dtype::C64 => "f32",
        Dtype::I8 => "i8",
        Dtype::I16 => "i16",
        Dtype::I32 => "i32",
        Dtype::I64 => "i64",
        Dtype::U16 | Dtype::F16 | Dtype::BF16 => "u16",
        Dtype::U32 => "u32",
        Dtype::U64 => "u64",
        _ => "u8",
    }
}

fn zero(dtype: Dtype) -> &'static str {
    match number(dtype) {
        "f32" | "f64" => "0.0",
        _ => "0",
    }
}

struct Rust;

impl Language for Rust {
    const OPEN: &str = "[";
    const CLOSE: &str = "]";

    fn number(dtype: Dtype, bytes: &[u8], to: &mut String) {
        let bits = values::bits(bytes);
        let _ = match (dtype, size_of_number(dtype)) {
            // The shortest decimals that are read as they are. A call for each number would take the
            // compiler minutes.
            (Dtype::F64, _) => match f64::from_bits(bits) {
                value if value.is_finite() => write!(to, "{value:?}"),
                _ => write!(to, "f64::from_bits(0x{bits:016x})"),
            },
            (Dtype::F32 | Dtype::C64, _) => match f32::from_bits(raw::low_bits(bits)) {
                value if value.is_finite() => write!(to, "{value:?}"),
                _ => write!(to, "f32::from_bits(0x{bits:08x})"),
            },
            (Dtype::I8, _) => write!(to, "{}", values::signed(bits, 8)),
            (Dtype::I16, _) => write!(to, "{}", values::signed(bits, 16)),
            (Dtype::I32, _) => write!(to, "{}", values::signed(bits, 32)),
            (Dtype::I64, _) => write!(to, "{}", values::signed(bits, 64)),
            (_, 2) if dtype != Dtype::U16 => write!(to, "0x{bits:04x}"),
            (_, 1) if dtype != Dtype::U8 && dtype != Dtype::BOOL => write!(to, "0x{bits:02x}"),
            _ => write!(to, "{bits}"),
        };
    }
}
