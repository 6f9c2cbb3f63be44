//! Asks every entry point of the core about the same bytes and demands one answer.

use safetensors_core::{Error, Header, Index, Options, PREFIX_LEN, SafeTensors, Scan, Slot};

use super::walked::{Expected, Walked, pairs, row};
use super::{Listing, Row};

/// The verdict of every entry point. What the others may say follows from the entries of the
/// header, taken one by one; see [`Walked`].
pub(crate) fn ask(bytes: &[u8]) -> Result<Listing, Error> {
    let verdict = match Header::read(bytes) {
        Ok(header) => {
            let walked = Walked::of(header);
            lazily(bytes, header, &walked);
            indexed(bytes, header, &walked);
            parsed(bytes, header, &walked)
        }
        Err(error) => Err(unread(bytes, error)),
    };
    if let Err(error) = &verdict {
        assert!(error.offset() <= bytes.len() as u64, "{error}");
        let display = error.display(bytes);
        let shown = display.to_string();
        assert!(shown.ends_with(&error.to_string()));
        assert_eq!(display.name().is_some(), shown != error.to_string());
    }
    verdict
}

/// Bytes that have no header: the same error from everyone, whatever the slots.
fn unread(bytes: &[u8], error: Error) -> Error {
    let mut slots = [Slot::EMPTY; 2];
    assert_eq!(SafeTensors::scan(bytes).unwrap_err(), error);
    assert_eq!(SafeTensors::parse(bytes, &mut []).unwrap_err(), error);
    assert_eq!(SafeTensors::parse(bytes, &mut slots).unwrap_err(), error);
    assert_eq!(Index::build(bytes, &mut slots).unwrap_err(), error);
    if let Some(prefix) = bytes.first_chunk::<PREFIX_LEN>() {
        match Header::len_from_prefix(*prefix) {
            Err(other) => assert_eq!(other, error),
            Ok(len) if len > bytes.len() => {}
            Ok(len) => assert!(std::str::from_utf8(&bytes[..len][PREFIX_LEN..]).is_err()),
        }
    }
    error
}

/// The entry points that need no memory. They can't see what is given twice, nor judge tensors
/// that are not in offset order.
fn lazily(bytes: &[u8], header: Header<'_>, walked: &Walked) {
    let start = header.data_start();
    let prefix = *bytes.first_chunk().unwrap();
    assert_eq!(Header::len_from_prefix(prefix).unwrap() as u64, start);
    assert_eq!(header.json(), &bytes[PREFIX_LEN..start as usize]);

    let expected = match walked.error {
        Some(error) => Expected::Error(error),
        None => Expected::Accept,
    };
    let scan = expected.check(bytes, header.scan());
    if let Ok(scan) = scan {
        check_scan(&scan, walked);
    }
    let expected = match expected {
        Expected::Accept => walked.with_data(bytes.len() as u64 - start),
        error => error,
    };
    let whole = expected.check(bytes, SafeTensors::scan(bytes));
    if let Ok(whole) = whole {
        assert_eq!(whole, scan.unwrap());
    }
    assert_eq!(Options::new().scan(bytes), whole);

    // Each deviation is at another byte of the header.
    let deviations: Vec<u64> = header.deviations().map(|deviation| deviation.offset()).collect();
    assert!(deviations.is_sorted_by(|a, b| a < b));
    assert!(deviations.iter().all(|offset| (PREFIX_LEN as u64..start).contains(offset)));

    // In one go, without the new starts.
    let entries: Vec<_> = header.entries().collect();
    assert_eq!(entries.last().and_then(|entry| entry.err()), walked.error);
    let metadata = header.metadata().map(|metadata| pairs(metadata).into_iter().collect());
    assert_eq!(metadata, walked.listing().metadata);
}

fn check_scan(scan: &Scan, walked: &Walked) {
    assert_eq!(scan.tensors(), walked.tensors.len());
    assert_eq!(scan.metadata_keys(), walked.keys());
    assert_eq!(scan.slots_needed(), walked.slots_needed());
    assert_eq!(scan.data_len(), walked.data_len());
    assert_eq!(scan.in_offset_order(), walked.in_offset_order());
}

/// [`Index::build`] on the header alone, then the length of the file.
fn indexed(file: &[u8], header: Header<'_>, walked: &Walked) {
    let (bytes, data) = file.split_at(header.data_start() as usize);
    let needed = walked.slots_needed();
    let mut slots = vec![Slot::EMPTY; needed];
    let expected = walked.with_slots(needed, None);
    if let Ok(index) = expected.check(bytes, Index::build(bytes, &mut slots)) {
        check_index(index, walked);
        let end = walked.with_data(data.len() as u64);
        let _ = end.check(file, index.check_file_len(file.len() as u64));
        check_index(Index::with_slots(bytes, index.slots()), walked);
    }
    let result = Options::new().index(bytes, &mut slots);
    let _ = expected.check(bytes, result.map(|_| ()));
}

fn check_index(index: Index<'_, '_>, walked: &Walked) {
    let tensors: Vec<Row> = index.iter().map(|info| row(&info)).collect();
    assert_eq!(tensors, walked.tensors);
    let names: Vec<String> = index.names().map(|name| name.to_string()).collect();
    assert!(names.iter().eq(tensors.iter().map(|(name, ..)| name)));
    assert_eq!((index.len(), index.is_empty()), (tensors.len(), tensors.is_empty()));
    assert_eq!(index.data_len(), walked.data_len());
    let metadata = index.metadata().map(|metadata| pairs(metadata).into_iter().collect());
    assert_eq!(metadata, walked.listing().metadata);

    for expected in &tensors {
        let found = index.tensor(&expected.0).unwrap();
        assert_eq!(row(&found), *expected);
        // Neighbours of a name that exists.
        for other in [format!("{}\0", expected.0), expected.0.chars().skip(1).collect()] {
            assert_eq!(index.tensor(&other).is_some(), names.contains(&other));
        }
    }
    assert!(index.tensor("no such tensor").is_none());
    assert!(index.tensor("__metadata__").is_none());

    let by_offset: Vec<Row> = index.iter_by_offset().map(|info| row(&info)).collect();
    assert!(by_offset.is_sorted_by_key(|(.., begin, end)| (*begin, *end)));
    let mut backwards: Vec<Row> = index.iter_by_offset().rev().map(|info| row(&info)).collect();
    backwards.reverse();
    assert_eq!(backwards, by_offset);
    assert_eq!(index.iter_by_offset().len(), by_offset.len());
    for (i, expected) in by_offset.iter().enumerate() {
        assert_eq!(row(&index.by_offset(i).unwrap()), *expected);
    }
    assert!(index.by_offset(by_offset.len()).is_none());
    let mut sorted = by_offset;
    sorted.sort();
    assert_eq!(sorted, walked.listing().tensors);
}

/// [`SafeTensors::parse`] with no slots, one too few, just enough and too many.
fn parsed(bytes: &[u8], header: Header<'_>, walked: &Walked) -> Result<Listing, Error> {
    let needed = walked.slots_needed();
    let data_len = bytes.len() as u64 - header.data_start();
    let mut slots = vec![Slot::EMPTY; needed + 3];
    // In this order, so that all but the first find slots that were used before.
    for count in [needed + 3, needed.saturating_sub(1), 0] {
        let result = SafeTensors::parse(bytes, &mut slots[..count]);
        let expected = walked.with_slots(count, Some(data_len));
        if let Ok(model) = expected.check(bytes, result) {
            assert_eq!(model.len(), walked.tensors.len());
            // All slots, of which fewer are in use.
            check_model(bytes, SafeTensors::with_slots(bytes, &slots[..count]), walked);
        }
    }
    let expected = walked.with_slots(needed, Some(data_len));
    let result = Options::new().parse(bytes, &mut slots[..needed]);
    let _ = expected.check(bytes, result.map(|_| ()));
    let model = expected.check(bytes, SafeTensors::parse(bytes, &mut slots[..needed]))?;
    check_model(bytes, model, walked);
    check_model(bytes, SafeTensors::with_slots(bytes, model.index().slots()), walked);
    Ok(walked.listing())
}

fn check_model(bytes: &[u8], model: SafeTensors<'_, '_>, walked: &Walked) {
    let index = model.index();
    check_index(index, walked);
    assert_eq!((model.len(), model.is_empty()), (index.len(), index.is_empty()));
    assert_eq!(model.metadata().is_some(), index.metadata().is_some());
    let start = index.header().data_start();
    assert!(std::ptr::eq(model.data(), &bytes[start as usize..]));

    let views: Vec<_> = model.iter().collect();
    assert_eq!(views.len(), walked.tensors.len());
    for ((view, name), expected) in views.iter().zip(model.names()).zip(&walked.tensors) {
        let info = view.info();
        assert_eq!(row(&info), *expected);
        assert_eq!((view.name(), view.dtype()), (name, info.dtype()));
        assert_eq!(view.shape(), expected.2[..]);
        let range = info.byte_range();
        assert_eq!(range, start + expected.3..start + expected.4);
        // The very bytes, not only equal ones.
        let data = &bytes[range.start as usize..range.end as usize];
        assert!(std::ptr::eq(view.data(), data));
        assert!(std::ptr::eq(model.tensor(&expected.0).unwrap().data(), data));
    }
    assert!(model.tensor("no such tensor").is_none());
    for (i, view) in model.iter_by_offset().enumerate() {
        let info = index.by_offset(i).unwrap();
        assert_eq!(row(&view.info()), row(&info));
        assert!(std::ptr::eq(model.by_offset(i).unwrap().data(), view.data()));
    }
    assert!(model.by_offset(views.len()).is_none());
}
