//! Headers as models have them, of any number of tensors.

use super::header::{self, Random};

/// The order of the tensors in the header.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    Offset,
    Shuffled,
}

impl Order {
    pub const ALL: [Self; 2] = [Self::Offset, Self::Shuffled];

    pub fn name(self) -> &'static str {
        match self {
            Self::Offset => "ordered",
            Self::Shuffled => "shuffled",
        }
    }
}

const PARTS: [&str; 8] =
    ["attn.q", "attn.k", "attn.v", "attn.o", "mlp.gate", "mlp.up", "mlp.down", "norm"];

/// The name of tensor `i`.
pub fn name(i: usize) -> String {
    format!("model.layers.{}.{}.weight", i / PARTS.len(), PARTS[i % PARTS.len()])
}

/// A member of the header: a tensor of four bytes, so that a million fit into the default limit.
pub fn member(i: usize) -> String {
    let (name, begin) = (name(i), 4 * i);
    let end = begin + 4;
    format!(r#""{name}":{{"dtype":"I8","shape":[4],"data_offsets":[{begin},{end}]}}"#)
}

/// The header of so many tensors, and their names in its order.
pub fn make(tensors: usize, order: Order) -> (Vec<u8>, Vec<String>) {
    let order = match order {
        Order::Offset => (0..tensors).collect(),
        Order::Shuffled => Random(1).order(tensors),
    };
    let members: Vec<String> = order.iter().map(|i| member(*i)).collect();
    let json = format!("{{{}}}", members.join(","));
    let head = header::finish([&[0; 8], json.as_bytes()].concat());
    (head, order.into_iter().map(name).collect())
}
