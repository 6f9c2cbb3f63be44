//! The corpus in `tests/data`: files with the answer of the reference implementation.

use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::Value;

/// A case: a file and what is known of it.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) line: Value,
}

/// The folder of the committed corpus.
pub(crate) fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The cases of one `.jsonl` file.
pub(crate) fn cases(list: &Path) -> impl Iterator<Item = Case> {
    let text = std::fs::read_to_string(list).unwrap();
    let folder = list.parent().unwrap().join("cases");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect::<Vec<Value>>()
        .into_iter()
        .map(move |line| {
            let name = line.get("name").or(line.get("file")).unwrap().as_str().unwrap().to_owned();
            let bytes = if line.get("file").is_some() {
                std::fs::read(folder.join(&name)).unwrap()
            } else if let Some(payload) = line.get("b64") {
                BASE64.decode(payload.as_str().unwrap()).unwrap()
            } else {
                let parts = line["parts"].as_array().unwrap();
                parts.iter().flat_map(part).collect()
            };
            Case { name, bytes, line }
        })
}

fn part(part: &Value) -> Vec<u8> {
    let bytes = BASE64.decode(part[0].as_str().unwrap()).unwrap();
    bytes.repeat(usize::try_from(part[1].as_u64().unwrap()).unwrap())
}
