//! Asks every entry point of the core about the same bytes and demands one answer.

use safetensors_core::{
    Entry, Error, ErrorKind, Header, Index, Metadata, Options, SafeTensors, Scan, Slot, TensorInfo,
};

use super::{Listing, Row};

/// The verdict of every entry point, which all agree on.
pub(crate) fn ask(bytes: &[u8]) -> Result<Listing, Error> {
    let verdict = parse(bytes);
    lazily(bytes, &verdict);
    indexed(bytes, &verdict);
    if let Err(error) = &verdict {
        assert!(error.offset() <= bytes.len() as u64, "{error}");
        assert!(!error.display(bytes).to_string().is_empty());
    }
    verdict
}

/// [`SafeTensors::parse`] with too few, just enough and too many slots, and everything that the
/// result can be asked.
fn parse(bytes: &[u8]) -> Result<Listing, Error> {
    let needed = match SafeTensors::parse(bytes, &mut []) {
        Ok(model) => {
            assert!(model.is_empty());
            0
        }
        Err(error) if error.kind() == ErrorKind::TooFewSlots => error.number() as usize,
        Err(error) => {
            // Found before slots are counted; with slots only a key given twice is met earlier.
            let with_slots = SafeTensors::parse(bytes, &mut [Slot::EMPTY; 64]).unwrap_err();
            assert!(with_slots == error || with_slots.kind() == ErrorKind::DuplicateKey);
            return Err(with_slots);
        }
    };
    if let Some(fewer) = needed.checked_sub(1) {
        let error = SafeTensors::parse(bytes, &mut vec![Slot::EMPTY; fewer]).unwrap_err();
        // Keys of the metadata for which the slots suffice are compared before all are counted.
        assert!(
            (error.kind(), error.number()) == (ErrorKind::TooFewSlots, needed as u64)
                || error.kind() == ErrorKind::DuplicateKey
        );
    }
    let mut more = vec![Slot::EMPTY; needed + 3];
    let more_result = SafeTensors::parse(bytes, &mut more).map(|model| model.len());
    // Slots that were used before.
    let mut slots = more.clone();
    slots.truncate(needed);
    let model = match SafeTensors::parse(bytes, &mut slots) {
        Ok(model) => model,
        Err(error) => {
            assert_eq!(more_result.unwrap_err(), error);
            return Err(error);
        }
    };
    assert_eq!(more_result.unwrap(), model.len());
    let listing = list(bytes, &model);
    let again = SafeTensors::with_slots(bytes, model.index().slots());
    assert_eq!(list(bytes, &again), listing);
    for all in [slots, more] {
        assert_eq!(list(bytes, &SafeTensors::with_slots(bytes, &all)), listing);
    }
    Ok(listing)
}

/// The listing, asked for in every way.
fn list(bytes: &[u8], model: &SafeTensors<'_, '_>) -> Listing {
    let index = model.index();
    let data_start = index.header().data_start();
    let mut tensors: Vec<Row> = Vec::new();
    for (view, name) in model.iter().zip(model.names()) {
        let info = view.info();
        assert_eq!(info.name(), name);
        let (begin, end) = info.data_offsets();
        let range = info.byte_range();
        assert_eq!(range, data_start + begin..data_start + end);
        assert_eq!(view.data(), &bytes[range.start as usize..range.end as usize]);
        let name = name.to_string();
        for found in [model.tensor(&name).unwrap().info(), index.tensor(&name).unwrap()] {
            assert_eq!(row(&found), row(&info));
        }
        tensors.push(row(&info));
    }
    for row in &tensors {
        let other = format!("{}\0", row.0);
        let exists = tensors.iter().any(|row| row.0 == other);
        assert_eq!(model.tensor(&other).is_some(), exists);
    }
    assert_eq!(tensors.len(), model.len());
    assert_eq!(index.iter().map(|info| row(&info)).collect::<Vec<_>>(), tensors);
    assert!(index.tensor("no such tensor").is_none());

    let by_offset: Vec<Row> = index.iter_by_offset().map(|info| row(&info)).collect();
    assert!(by_offset.is_sorted_by_key(|row| (row.3, row.4)));
    let mut backwards: Vec<Row> =
        model.iter_by_offset().rev().map(|view| row(&view.info())).collect();
    backwards.reverse();
    assert_eq!(backwards, by_offset);
    for (i, expected) in by_offset.iter().enumerate() {
        assert_eq!(row(&index.by_offset(i).unwrap()), *expected);
        assert_eq!(row(&model.by_offset(i).unwrap().info()), *expected);
    }
    assert!(index.by_offset(by_offset.len()).is_none());
    assert_eq!(index.data_len(), by_offset.last().map_or(0, |row| row.4));

    tensors.sort();
    let mut sorted = by_offset;
    sorted.sort();
    assert_eq!(sorted, tensors);
    Listing { tensors, metadata: metadata(model.metadata()) }
}

fn metadata(metadata: Option<Metadata<'_>>) -> Option<std::collections::BTreeMap<String, String>> {
    let metadata = metadata?;
    let pairs: Vec<_> = metadata.iter().collect();
    assert_eq!(pairs.len(), metadata.len());
    assert_eq!(pairs.is_empty(), metadata.is_empty());
    for (key, value) in &pairs {
        assert_eq!(metadata.value(&key.to_string()).unwrap(), *value);
    }
    Some(pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect())
}

fn row(info: &TensorInfo<'_>) -> Row {
    let shape: Vec<u64> = info.shape().iter().collect();
    assert_eq!(info.shape().rank(), shape.len());
    assert_eq!(info.shape().element_count(), shape.iter().product::<u64>());
    for (axis, dim) in shape.iter().enumerate().take(8) {
        assert_eq!(info.shape().dim(axis), Some(*dim));
    }
    assert_eq!(info.shape().dim(shape.len()), None);
    let (begin, end) = info.data_offsets();
    assert_eq!(info.data_len(), end - begin);
    (info.name().to_string(), info.dtype().name().to_owned(), shape, begin, end)
}

/// The entries that need no memory. They can't see duplicates, nor judge a layout that is not in
/// offset order; apart from that they must say what `parse` says.
fn lazily(bytes: &[u8], verdict: &Result<Listing, Error>) {
    let header = match Header::read(bytes) {
        Ok(header) => header,
        Err(error) => {
            assert_eq!(verdict.as_ref().unwrap_err(), &error);
            assert_eq!(SafeTensors::scan(bytes).unwrap_err(), error);
            return;
        }
    };
    let prefix = *bytes.first_chunk().unwrap();
    assert_eq!(Header::len_from_prefix(prefix).unwrap() as u64, header.data_start());
    let scan = header.scan();
    entries(header, &scan, verdict);
    let scan = match scan {
        Ok(scan) => scan,
        Err(error) => {
            assert_eq!(SafeTensors::scan(bytes).unwrap_err(), error);
            // A parse meets the same fault, unless it met a key of the metadata twice before.
            let parsed = verdict.as_ref().unwrap_err();
            assert!(*parsed == error || parsed.kind() == ErrorKind::DuplicateKey);
            return;
        }
    };
    let whole = SafeTensors::scan(bytes);
    match verdict {
        Ok(listing) => {
            assert_eq!(whole.unwrap(), scan);
            assert_eq!(scan.tensors(), listing.tensors.len());
            let keys = listing.metadata.as_ref().map_or(0, |metadata| metadata.len());
            assert_eq!(scan.metadata_keys(), keys);
            assert_eq!(scan.slots_needed(), keys.max(scan.tensors()));
            assert_eq!(header.data_start() + scan.data_len(), bytes.len() as u64);
        }
        Err(error) => match error.kind() {
            ErrorKind::DuplicateKey | ErrorKind::DuplicateName => {}
            ErrorKind::Gap | ErrorKind::Overlap => assert!(!scan.in_offset_order()),
            _ => assert_eq!(whole.unwrap_err(), *error),
        },
    }
}

/// [`Header::entries`], in one go and with a new start at every entry.
fn entries(header: Header<'_>, scan: &Result<Scan, Error>, verdict: &Result<Listing, Error>) {
    let mut entries = header.entries();
    let mut found = Listing { tensors: Vec::new(), metadata: None };
    let mut failed = None;
    while let Some(entry) = entries.next() {
        match entry {
            Ok(Entry::Tensor(info)) => found.tensors.push(row(&info)),
            Ok(Entry::Metadata(pairs)) => {
                // Of keys given twice a look-up finds the first, which only a parse refuses.
                found.metadata = match verdict {
                    Ok(_) => metadata(pairs),
                    Err(_) => None,
                };
            }
            Err(error) => {
                failed = Some(error);
                assert!(entries.next().is_none());
            }
        }
        if let Some(position) = entries.position() {
            entries = header.entries_from(position);
        }
    }
    match scan {
        Ok(scan) => {
            assert_eq!(failed, None);
            assert_eq!(found.tensors.len(), scan.tensors());
            assert!(header.entries().all(|entry| entry.is_ok()));
        }
        Err(error) => assert_eq!(failed, Some(*error)),
    }
    if let Ok(listing) = verdict {
        found.tensors.sort();
        assert_eq!(found, *listing);
        assert_eq!(metadata(header.metadata()), listing.metadata);
    }
}

/// [`Index::build`] on the header alone: all but the length of the data.
fn indexed(bytes: &[u8], verdict: &Result<Listing, Error>) {
    let Ok(header) = Header::read(bytes) else { return };
    let start = header.data_start() as usize;
    let mut slots = vec![Slot::EMPTY; header.scan().map_or(64, |scan| scan.slots_needed())];
    let mut same = slots.clone();
    let options = Options::new().index(&bytes[..start], &mut same).map(|index| index.len());
    match Index::build(&bytes[..start], &mut slots) {
        Ok(index) => {
            assert_eq!(options.unwrap(), index.len());
            let data_len = (bytes.len() - start) as u64;
            let again = Index::with_slots(&bytes[..start], index.slots());
            for index in [index, again] {
                let mut tensors: Vec<Row> = index.iter().map(|info| row(&info)).collect();
                tensors.sort();
                match verdict {
                    Ok(listing) => {
                        let metadata = metadata(index.metadata());
                        assert_eq!(Listing { tensors, metadata }, *listing);
                        assert_eq!(index.data_len(), data_len);
                    }
                    Err(error) => {
                        let missing = index.data_len().checked_sub(data_len).filter(|n| *n > 0);
                        match missing {
                            Some(missing) => {
                                assert_eq!(error.kind(), ErrorKind::DataTruncated);
                                assert_eq!(error.number(), missing);
                            }
                            None => {
                                assert_eq!(error.kind(), ErrorKind::TrailingBytes);
                                assert_eq!(error.number(), data_len - index.data_len());
                            }
                        }
                    }
                }
            }
        }
        Err(error) => {
            assert_eq!(options.unwrap_err(), error);
            assert_eq!(verdict.as_ref().unwrap_err(), &error);
        }
    }
}
