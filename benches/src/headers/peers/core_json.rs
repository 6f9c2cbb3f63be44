//! serde-json-core, with types that keep nothing: it needs no memory, as a scan of ours.

use std::fmt;
use std::hint::black_box;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::headers::input::{Found, Input};
use crate::headers::work::Work;

pub const SCAN: Work = Work::of_head(scan, found);

fn scan(input: &mut Input<'_>) {
    black_box(found(input));
}

fn found(input: &mut Input<'_>) -> Option<Found> {
    let (Header(found), _) = serde_json_core::from_slice(black_box(input.json())).ok()?;
    Some(found)
}

struct Header(Found);

#[derive(Deserialize)]
struct Tensor<'a> {
    dtype: &'a str,
    shape: Shape,
    data_offsets: (u64, u64),
}

/// The number of elements.
struct Shape(u64);

/// The number of pairs. Their escapes stay as they are.
struct Pairs(usize);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut found = Found::default();
                while let Some(name) = map.next_key::<&str>()? {
                    if name == "__metadata__" {
                        black_box(map.next_value::<Pairs>()?.0);
                        continue;
                    }
                    let tensor: Tensor<'_> = map.next_value()?;
                    black_box((tensor.dtype, tensor.shape.0));
                    let (begin, end) = tensor.data_offsets;
                    found.add(begin, end);
                }
                Ok(Header(found))
            }
        }

        from.deserialize_map(Entries)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Dims;

        impl<'de> Visitor<'de> for Dims {
            type Value = Shape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("dimensions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut dims: A) -> Result<Shape, A::Error> {
                let mut count: u64 = 1;
                while let Some(dim) = dims.next_element()? {
                    count = count.wrapping_mul(dim);
                }
                Ok(Shape(count))
            }
        }

        from.deserialize_seq(Dims)
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Texts;

        impl<'de> Visitor<'de> for Texts {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut count = 0;
                while map.next_entry::<&str, &str>()?.is_some() {
                    count += 1;
                }
                Ok(Pairs(count))
            }
        }

        from.deserialize_map(Texts)
    }
}
