//! Strings are unescaped as serde_json does it, and refused when it refuses them; a name is found
//! by what it says, however it is spelled.
#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;

use libfuzzer_sys::fuzz_target;
use safetensors_core::{ErrorKind, Header, SafeTensors, Slot};

fuzz_target!(|input: &[u8]| {
    let json = [b"\"", input, b"\""].concat();
    let mut strings = serde_json::Deserializer::from_slice(&json).into_iter::<String>();
    let expected = strings.next().unwrap();
    if expected.is_ok() && strings.byte_offset() != json.len() {
        // A string that ends early lets the rest of the input speak; that is for the other targets.
        return;
    }
    let bytes = common::file([b"{\"__metadata__\":{\"\":", &json[..], b"}}"].concat(), &[]);
    let scanned = Header::read(&bytes).and_then(|header| header.scan().map(|_| header));
    assert_eq!(scanned.is_ok(), expected.is_ok());
    if let (Ok(header), Ok(expected)) = (scanned, expected) {
        let text = header.metadata().unwrap().value("").unwrap();
        assert_eq!(text, expected.as_str());
        assert_eq!(text.to_string(), expected);
        assert_eq!(text.chars().collect::<String>(), expected);
        assert_eq!(text.len(), expected.len());
        let mut buffer = vec![0; expected.len()];
        assert_eq!(text.decode_into(&mut buffer).unwrap(), expected);
        name(&json, &expected);
    }
});

/// `json` as the name of a tensor.
fn name(json: &[u8], name: &str) {
    let description = br#":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let bytes = common::file([b"{", json, description, b"}"].concat(), &[]);
    let mut slots = [Slot::EMPTY; 2];
    match SafeTensors::parse(&bytes, &mut slots) {
        Ok(model) => assert_eq!(model.tensor(name).unwrap().name(), name),
        Err(_) => return assert_eq!(name, "__metadata__"),
    }
    // Its usual spelling is the same name.
    let usual = serde_json::to_vec(name).unwrap();
    let twice = [b"{", json, description, b",", &usual[..], description, b"}"].concat();
    let error = SafeTensors::parse(&common::file(twice, &[]), &mut slots).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateName);
}
