//! Files that are written: byte for byte those of the reference implementation, read again by both,
//! and refused before anything is written if they would not be.

mod common;

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reference::tensor::{Dtype as ReferenceDtype, TensorView as ReferenceView};
use safetensors_core::{
    Dtype, Error, MetadataPair, Options, Plan, SafeTensors, Slot, TensorSpec, WriteError,
    WriteErrorKind, WriteOptions,
};

/// A tensor of its own.
#[derive(Clone, Debug)]
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl Tensor {
    fn new(name: &str, dtype: Dtype, shape: &[usize]) -> Self {
        let bits = shape.iter().product::<usize>() * dtype.bitsize();
        let data = (0..bits / 8).map(|i| i as u8 ^ 0x5a).collect();
        Self { name: name.to_owned(), dtype, shape: shape.to_vec(), data }
    }

    fn spec(&self) -> TensorSpec<'_> {
        TensorSpec::new(&*self.name, self.dtype, &*self.shape).with_data(&self.data)
    }
}

fn specs(tensors: &[Tensor]) -> Vec<TensorSpec<'_>> {
    tensors.iter().map(Tensor::spec).collect()
}

fn pairs<'a>(pairs: &'a [(&str, &str)]) -> Vec<MetadataPair<'a>> {
    pairs.iter().map(|(key, value)| MetadataPair::new(*key, *value)).collect()
}

/// The file, in a buffer of exactly its length.
fn written(plan: &Plan<'_>) -> Vec<u8> {
    let mut buffer = vec![0xaa; plan.file_len() as usize];
    assert_eq!(plan.write_into(&mut buffer).unwrap().len(), buffer.len());
    let mut head = vec![0xaa; plan.data_start() as usize];
    plan.write_header_into(&mut head).unwrap();
    assert!(buffer.starts_with(&head));
    assert_eq!(plan.data_start() + plan.data_len(), plan.file_len());
    buffer
}

fn write(options: WriteOptions, tensors: &[Tensor], metadata: Option<&[(&str, &str)]>) -> Vec<u8> {
    let mut metadata = metadata.map(pairs);
    written(&options.plan(&mut specs(tensors), metadata.as_deref_mut()).unwrap())
}

/// What the reference writes; of more than one pair of metadata it does not know the order.
fn reference(tensors: &[Tensor], metadata: Option<(&str, &str)>) -> Vec<u8> {
    let views = tensors.iter().map(|tensor| {
        let dtype: ReferenceDtype = serde_json::from_str(&format!("\"{}\"", tensor.dtype)).unwrap();
        let view = ReferenceView::new(dtype, tensor.shape.clone(), &tensor.data).unwrap();
        (tensor.name.clone(), view)
    });
    let metadata = metadata.map(|(key, value)| HashMap::from([(key.to_owned(), value.to_owned())]));
    reference::serialize(views, metadata).unwrap()
}

/// Name, dtype, shape, data, in header order.
type Row = (String, Dtype, Vec<u64>, Vec<u8>);

fn rows(model: SafeTensors<'_, '_>) -> Vec<Row> {
    let row = |view: safetensors_core::TensorView<'_>| {
        let shape = view.shape().iter().collect();
        (view.name().to_string(), view.dtype(), shape, view.data().to_vec())
    };
    model.iter().map(row).collect()
}

fn read<R>(
    options: &Options,
    file: &[u8],
    look: impl FnOnce(SafeTensors<'_, '_>) -> R,
) -> Result<R, Error> {
    let mut slots = vec![Slot::EMPTY; options.scan(file)?.slots_needed()];
    options.parse(file, &mut slots).map(look)
}

// ── the reference's bytes ──

#[test]
fn small_files_byte_for_byte() {
    let none: &[u8] = b"\x08\0\0\0\0\0\0\0{}      ";
    assert_eq!(write(WriteOptions::new(), &[], None), none);
    let a = Tensor { data: vec![7], ..Tensor::new("a", Dtype::U8, &[]) };
    let b = Tensor { data: vec![1, 0, 2, 0], ..Tensor::new("b", Dtype::I16, &[1, 2]) };
    let expected = concat!(
        r#"{"__metadata__":{"k":"v"},"b":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]},"#,
        r#""a":{"dtype":"U8","shape":[],"data_offsets":[4,5]}}    "#,
    );
    let expected =
        [&(expected.len() as u64).to_le_bytes(), expected.as_bytes(), &[1, 0, 2, 0, 7]].concat();
    assert_eq!(write(WriteOptions::new(), &[a, b], Some(&[("k", "v")])), expected);
}

#[test]
fn every_dtype_and_every_character() {
    // All of the same name but for a number, so that dtypes decide; all characters but surrogates of
    // the first 65,536, and the last one.
    let tensors: Vec<Tensor> =
        Dtype::ALL.iter().map(|dtype| Tensor::new(dtype.name(), *dtype, &[2, 4])).collect();
    assert_eq!(write(WriteOptions::new(), &tensors, None), reference(&tensors, None));
    let all: String = ('\0'..='\u{ffff}').chain(['\u{1f600}', char::MAX]).collect();
    let tensor = [Tensor::new(&all, Dtype::F32, &[0])];
    let metadata = (all.as_str(), all.as_str());
    let file = write(WriteOptions::new(), &tensor, Some(&[metadata]));
    assert_eq!(file, reference(&tensor, Some(metadata)));
    read(&Options::new(), &file, |model| {
        assert_eq!(model.tensor(&all).unwrap().name(), *all);
        assert_eq!(model.metadata().unwrap().value(&all).unwrap(), *all);
    })
    .unwrap();
}

/// Files of the corpus that are as the reference writes them come back byte for byte from reading and
/// writing. It does so with metadata in any order; here the order is that of the file.
#[test]
fn canonical_files_come_back() {
    let (mut accepted, mut canonical) = (0, 0);
    for list in ["expected.jsonl", "matrix.jsonl", "mutations.jsonl", "recipes.jsonl"] {
        for case in common::corpus::cases(&common::corpus::committed().join(list)) {
            let written = read(&Options::new(), &case.bytes, |model| {
                let mut tensors: Vec<_> = model.iter().map(TensorSpec::from).collect();
                let mut pairs: Option<Vec<_>> = model.metadata().map(|metadata| {
                    metadata.iter().map(|(key, value)| MetadataPair::new(key, value)).collect()
                });
                written(&WriteOptions::new().plan(&mut tensors, pairs.as_deref_mut()).unwrap())
            });
            let Ok(written) = written else { continue };
            accepted += 1;
            let expected = again_by_the_reference(&case.bytes);
            if expected.is_some_and(|expected| expected == case.bytes) {
                assert!(written == case.bytes, "{}", case.name);
                canonical += 1;
            }
        }
    }
    // On 32-bit machines the reference refuses three with large dimensions.
    let expected = if cfg!(target_pointer_width = "64") { 46 } else { 43 };
    assert_eq!((accepted, canonical), (1236, expected));
}

/// `None` for what it refuses itself, and where it would choose an order of the metadata.
fn again_by_the_reference(file: &[u8]) -> Option<Vec<u8>> {
    let (_, metadata) = reference::SafeTensors::read_metadata(file).ok()?;
    let model = reference::SafeTensors::deserialize(file).ok()?;
    let pairs = metadata.metadata().clone();
    if pairs.as_ref().is_some_and(|pairs| pairs.len() > 1) {
        return None;
    }
    reference::serialize(model.iter(), pairs).ok()
}

/// Of a metadata map without entries and no tensors the reference makes what nobody can read.
#[test]
fn metadata_without_entries_and_tensors() {
    let file = write(WriteOptions::new(), &[], Some(&[]));
    assert_eq!(file, b"\x18\0\0\0\0\0\0\0{\"__metadata__\":{}}     ");
    assert!(reference::SafeTensors::deserialize(&file).unwrap().is_empty());
    let none: [(String, ReferenceView<'_>); 0] = [];
    let theirs = reference::serialize(none, Some(HashMap::new())).unwrap();
    assert_eq!(theirs[8..], *b"{},\"__metadata__\":{}}   ");
    reference::SafeTensors::deserialize(&theirs).unwrap_err();
}

fn any_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        any::<char>(),
        proptest::char::range('\0', '\x7f'),
        prop::sample::select(vec!['"', '\\', '/', '\u{2028}', 'é']),
        proptest::char::range('a', 'c'),
    ];
    prop::collection::vec(character, 0..8).prop_map(|text| text.into_iter().collect())
}

fn any_tensors() -> impl Strategy<Value = Vec<Tensor>> {
    let tensor = (
        any_text().prop_filter("reserved", |name| name != "__metadata__"),
        prop::sample::select(Dtype::ALL),
        prop::collection::vec(prop_oneof![3 => 1_usize..5, 1 => Just(0)], 0..4),
    );
    prop::collection::vec(tensor, 0..12).prop_map(|tensors| {
        let tensors = tensors.into_iter().map(|(name, dtype, mut shape)| {
            // Whole bytes.
            if dtype.bitsize() < 8 {
                shape.push(4);
            }
            (name.clone(), Tensor::new(&name, dtype, &shape))
        });
        // One of each name, in an order of its own.
        let by_name: HashMap<String, Tensor> = tensors.collect();
        by_name.into_values().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(11),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_bytes_of_the_reference(
        tensors in any_tensors(),
        metadata in prop::option::of((any_text(), any_text())),
    ) {
        let metadata = metadata.as_ref().map(|(key, value)| (&**key, &**value));
        let pairs = metadata.map(|pair| [pair]);
        let file = write(WriteOptions::new(), &tensors, pairs.as_ref().map(|pairs| &pairs[..]));
        prop_assert_eq!(&file, &reference(&tensors, metadata));

        // Read, and written again from what was read: the same.
        let again = read(&Options::new(), &file, |model| {
            let mut specs: Vec<TensorSpec<'_>> = model.iter().map(TensorSpec::from).collect();
            let pairs = model.metadata().map(|pairs| {
                pairs.iter().map(|(key, value)| MetadataPair::new(key, value)).collect::<Vec<_>>()
            });
            let mut pairs = pairs;
            written(&WriteOptions::new().plan(&mut specs, pairs.as_deref_mut()).unwrap())
        });
        prop_assert_eq!(again, Ok(file));
    }

    #[test]
    fn other_layouts_hold_the_same(
        tensors in any_tensors(),
        (keep_order, sort_metadata) in any::<(bool, bool)>(),
        align in prop::sample::select(vec![0, 1, 8, 13, 16, 64, 4096]),
        align_tensors in prop::sample::select(vec![0, 1, 2, 3, 16, 64]),
        metadata in prop::collection::hash_map(any_text(), any_text(), 0..5),
    ) {
        let options = WriteOptions::new()
            .keep_order(keep_order)
            .sort_metadata(sort_metadata)
            .align(align)
            .align_tensors(align_tensors);
        let metadata: Vec<_> = metadata.iter().map(|(key, value)| (&**key, &**value)).collect();
        let file = write(options, &tensors, Some(&metadata));

        let mut expected: Vec<&Tensor> = tensors.iter().collect();
        if !keep_order {
            expected.sort_by(|a, b| b.dtype.cmp(&a.dtype).then(a.name.cmp(&b.name)));
        }
        let expected: Vec<Row> = expected
            .into_iter()
            .map(|tensor| {
                let shape = tensor.shape.iter().map(|dim| *dim as u64).collect();
                (tensor.name.clone(), tensor.dtype, shape, tensor.data.clone())
            })
            .collect();
        let mut keys = metadata.clone();
        if sort_metadata {
            keys.sort();
        }
        let found = read(&Options::new().allow_gaps(true), &file, |model| {
            let start = model.index().header().data_start();
            assert_eq!(start % u64::from(align.max(1)), 0);
            for view in &model {
                assert_eq!(view.info().data_offsets().0 % u64::from(align_tensors.max(1)), 0);
            }
            let found = model.metadata().unwrap();
            let found: Vec<_> =
                found.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            let keys: Vec<_> =
                keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            assert_eq!(found, keys);
            rows(model)
        });
        prop_assert_eq!(found, Ok(expected));
        if align_tensors <= 1 {
            // Without gaps every reader takes it.
            prop_assert!(read(&Options::new(), &file, |_| ()).is_ok());
            prop_assert!(reference::SafeTensors::deserialize(&file).is_ok());
        }
    }
}

// ── what is refused ──

/// The error, and its text with the names; what was given is in its order.
fn refused(
    options: WriteOptions,
    mut tensors: Vec<TensorSpec<'_>>,
    metadata: &[(&str, &str)],
) -> (WriteError, String) {
    let given = format!("{tensors:?}");
    let mut pairs = pairs(metadata);
    let error = options.plan(&mut tensors, Some(&mut pairs)).unwrap_err();
    assert_eq!(format!("{tensors:?}"), given);
    assert!(pairs.iter().zip(metadata).all(|(pair, (key, _))| pair.key() == *key));
    (error, error.display(&tensors, &pairs).to_string())
}

#[test]
fn what_readers_would_refuse() {
    use WriteErrorKind::*;
    let u8s = |name| TensorSpec::new(name, Dtype::U8, &[1]);
    let check = |tensors: Vec<_>, metadata: &[_], kind, index, number, text: &str, plain: &str| {
        let (error, shown) = refused(WriteOptions::new(), tensors, metadata);
        assert_eq!((error.kind(), error.index(), error.number()), (kind, index, number));
        assert_eq!((shown.as_str(), error.to_string().as_str()), (text, plain));
    };
    check(
        vec![u8s("b"), u8s("a\n"), u8s("c"), TensorSpec::new("a\n", Dtype::F32, &[0])],
        &[],
        DuplicateName,
        Some(3),
        0,
        r#"tensor "a\n": two tensors have this name"#,
        "tensor 3: two tensors have this name",
    );
    check(
        vec![u8s("z"), u8s("__metadata__")],
        &[],
        ReservedName,
        Some(1),
        0,
        r#"tensor "__metadata__": a tensor can't be called `__metadata__`"#,
        "tensor 1: a tensor can't be called `__metadata__`",
    );
    check(
        vec![u8s("z"), u8s("a")],
        &[("k", "1"), ("b", ""), ("k", "2")],
        DuplicateKey,
        Some(2),
        0,
        r#"metadata "k": two keys of the metadata are equal"#,
        "metadata 2: two keys of the metadata are equal",
    );
    check(
        vec![TensorSpec::new("w", Dtype::F4, &[3])],
        &[],
        PartialByte,
        Some(0),
        12,
        r#"tensor "w": elements do not fill whole bytes, 12 bits"#,
        "tensor 0: elements do not fill whole bytes, 12 bits",
    );
    let data = [0; 25];
    for len in [0, 23, 25] {
        check(
            vec![u8s("a"), TensorSpec::new("w", Dtype::F64, &[3]).with_data(&data[..len])],
            &[],
            WrongDataLen,
            Some(1),
            24,
            r#"tensor "w": data is not as long as dtype and shape demand, 24 bytes needed"#,
            "tensor 1: data is not as long as dtype and shape demand, 24 bytes needed",
        );
    }
}

#[test]
fn what_is_too_large() {
    use WriteErrorKind::*;
    // 2⁶⁰ − 1 bytes each: sixteen of them are 16 too few for an overflow.
    let names: Vec<String> = (0..17).map(|i| format!("{i:02}")).collect();
    let large: Vec<TensorSpec<'_>> =
        names.iter().map(|name| TensorSpec::new(&**name, Dtype::U8, &[(1 << 60) - 1])).collect();
    let text = "tensor \"16\": size does not fit 64 bits";
    let (error, shown) = refused(WriteOptions::new(), large.clone(), &[]);
    assert_eq!((error.kind(), shown.as_str()), (SizeOverflow, text));
    // The header does not fit behind that.
    let (error, shown) = refused(WriteOptions::new(), large[..16].to_vec(), &[]);
    assert_eq!((error.kind(), shown.as_str()), (SizeOverflow, "size does not fit 64 bits"));
    assert!(WriteOptions::new().plan(&mut large[..15].to_vec(), None).is_ok());
    for shape in [&[u64::MAX, 2][..], &[1 << 61], &[1 << 62, 4, 0]] {
        let (error, _) =
            refused(WriteOptions::new(), vec![TensorSpec::new("w", Dtype::U8, shape)], &[]);
        assert_eq!((error.kind(), error.index()), (SizeOverflow, Some(0)), "{shape:?}");
    }

    let tensor = || vec![TensorSpec::new("w", Dtype::U8, &[1])];
    let mut specs = tensor();
    let plan = WriteOptions::new().plan(&mut specs, None).unwrap();
    assert_eq!(plan.data_start(), 8 + 56);
    assert!(WriteOptions::new().header_limit(56).plan(&mut tensor(), None).is_ok());
    let error = WriteOptions::new().header_limit(55).plan(&mut tensor(), None).unwrap_err();
    assert_eq!(error.to_string(), "header is larger than readers accept, 56 bytes");
    let error = WriteOptions::new().align(u32::MAX).plan(&mut tensor(), None).unwrap_err();
    assert_eq!(error.to_string(), "header is larger than readers accept, 4294967287 bytes");
}

#[test]
fn nothing_is_written_where_it_has_no_room() {
    let tensors = [Tensor::new("b", Dtype::I16, &[3]), Tensor::new("a", Dtype::U8, &[5])];
    let mut specs = specs(&tensors);
    let plan = WriteOptions::new().plan(&mut specs, None).unwrap();
    let (file, head) = (plan.file_len() as usize, plan.data_start() as usize);
    for len in 0..file {
        let mut buffer = vec![0xaa; len];
        let error = plan.write_into(&mut buffer).unwrap_err();
        assert_eq!(error.to_string(), format!("buffer is too small, {file} bytes needed"));
        assert_eq!((error.index(), error.number()), (None, file as u64));
        assert!(buffer.iter().all(|byte| *byte == 0xaa));
        match plan.write_header_into(&mut buffer) {
            Ok(found) => assert_eq!((found.len(), len >= head), (head, true)),
            Err(error) => {
                assert_eq!(error.to_string(), format!("buffer is too small, {head} bytes needed"));
                assert!(buffer.iter().all(|byte| *byte == 0xaa) && len < head);
            }
        }
    }
    // What is behind it stays.
    let mut buffer = vec![0xaa; file + 3];
    plan.write_into(&mut buffer).unwrap();
    assert_eq!(buffer[file..], [0xaa; 3]);
}

#[test]
fn data_may_be_written_by_others() {
    let mut specs = [
        TensorSpec::new("a", Dtype::U8, &[3]).with_data(&[1, 2, 3]),
        TensorSpec::new("b", Dtype::F32, &[2]),
    ];
    let plan = WriteOptions::new().plan(&mut specs, None).unwrap();
    let error = plan.write_into(&mut [0; 1000]).unwrap_err();
    assert_eq!((error.kind(), error.index()), (WriteErrorKind::MissingData, Some(1)));
    let text = "tensor \"b\": data is not complete, 8 bytes missing";
    assert_eq!(error.display(plan.tensors(), &[]).to_string(), text);

    let mut file = vec![0; plan.file_len() as usize];
    plan.write_header_into(&mut file).unwrap();
    for (tensor, data) in plan.tensors().iter().zip([&[9; 8][..], &[1, 2, 3]]) {
        let (begin, end) = tensor.data_offsets();
        let start = plan.data_start();
        file[(start + begin) as usize..(start + end) as usize].copy_from_slice(data);
    }
    let found = read(&Options::new(), &file, |model| {
        let data = |name| model.tensor(name).unwrap().data().to_vec();
        (data("a"), data("b"))
    });
    assert_eq!(found, Ok((vec![1, 2, 3], vec![9; 8])));
}

/// The canonical files of the corpus come back byte for byte.
#[test]
fn what_is_read_is_written() {
    let file: &[u8] = include_bytes!("../examples/digits/digits.safetensors");
    let again = read(&Options::new(), file, |model| {
        let mut specs: Vec<TensorSpec<'_>> = model.iter().map(TensorSpec::from).collect();
        let pairs = model.metadata().unwrap();
        let mut pairs: Vec<_> =
            pairs.iter().map(|(key, value)| MetadataPair::new(key, value)).collect();
        written(&WriteOptions::new().plan(&mut specs, Some(&mut pairs)).unwrap())
    });
    assert_eq!(again.unwrap(), file);
}
