//! Streams: the bytes that a plan writes in one piece, whatever the sink takes and wherever it fails.

use safetensors_core::{
    Dtype, MetadataPair, Plan, StreamError, TensorSpec, WriteErrorKind, WriteOptions,
};

use super::{stream, wait};
use crate::device::{Broken, Port, Random};

/// A plan of which some data comes later, and the file it makes.
fn with_plan<R>(check: impl FnOnce(&Plan<'_>, &[u8]) -> R) -> R {
    let options = WriteOptions::new().align_tensors(200).align(64);
    let data: Vec<u8> = (0..24).collect();
    let first = TensorSpec::new("first", Dtype::I64, &[3]);
    let second = TensorSpec::new("second", Dtype::U8, &[9]).with_data(&data[..9]);
    let mut whole = [first.with_data(&data), second];
    let whole = options.plan(&mut whole, None).unwrap();
    let mut file = vec![0; whole.file_len() as usize];
    whole.write_into(&mut file).unwrap();
    check(&options.plan(&mut [first, second], None).unwrap(), &file)
}

fn write(plan: &Plan<'_>, port: &mut Port) -> Result<(), StreamError<Broken>> {
    let mut stream = wait(stream(plan, port))?;
    while let Some(tensor) = wait(stream.next_tensor())? {
        assert_eq!(tensor.name(), "first");
        let data: Vec<u8> = (0..24).collect();
        for piece in data.chunks(7) {
            wait(stream.write(piece))?;
        }
    }
    assert_eq!(stream.written(), plan.file_len());
    wait(stream.finish())?;
    Ok(())
}

#[test]
fn a_sink_that_fails_at_any_call() {
    with_plan(|plan, file| {
        let mut port = Port::new();
        write(plan, &mut port).unwrap();
        assert!(port.got == file);
        let calls = port.calls;
        assert!(calls > 20);
        for fails in 0..calls {
            let mut port = Port::new();
            port.fails = Some(fails);
            assert_eq!(write(plan, &mut port), Err(StreamError::Sink(Broken(fails))));
            assert!(file.starts_with(&port.got));
            assert_eq!(port.calls, fails + 1);
        }
    });
}

#[test]
fn a_sink_that_is_full_at_any_byte() {
    with_plan(|plan, file| {
        for room in 0..file.len() {
            let mut port = Port::new();
            port.room = room;
            let error = write(plan, &mut port).unwrap_err();
            let bytes = if room == 1 { "byte" } else { "bytes" };
            assert_eq!(error.to_string(), format!("sink takes no more, {room} {bytes} written"));
            assert!(port.got == file[..room]);
        }
    });
}

#[test]
fn data_that_is_not_what_was_planned() {
    with_plan(|plan, file| {
        let mut port = Port::new();
        let mut stream = wait(stream(plan, &mut port)).unwrap();
        let kind = |error| match error {
            StreamError::Write(error) => (error.kind(), error.index(), error.number()),
            StreamError::Sink(error) => panic!("{error}"),
        };
        let error = wait(stream.write(&[0])).unwrap_err();
        assert_eq!(kind(error), (WriteErrorKind::WrongDataLen, None, 0));
        wait(stream.next_tensor()).unwrap();
        let error = wait(stream.write(&[0; 25])).unwrap_err();
        assert_eq!(kind(error), (WriteErrorKind::WrongDataLen, Some(0), 24));
        let data: Vec<u8> = (0..24).collect();
        wait(stream.write(&data[..20])).unwrap();
        let error = wait(stream.next_tensor()).unwrap_err();
        assert_eq!(kind(error), (WriteErrorKind::MissingData, Some(0), 4));
        // What is right goes on.
        wait(stream.write(&data[20..])).unwrap();
        assert!(wait(stream.next_tensor()).unwrap().is_none());
        wait(stream.finish()).unwrap();
        assert!(port.got == file);
    });
}

/// The header is made piece by piece, wherever pieces end.
#[test]
fn headers_of_every_kind() {
    let mut random = Random(11);
    let alphabet: Vec<char> = "ab\"\\/\u{8}\t\n\u{c}\r\0\u{1f}\u{7f}é€😀".chars().collect();
    let mut text = |most: u64| {
        let len = random.below(most);
        (0..len).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]).collect::<String>()
    };
    for round in 0..300 {
        let keys: Vec<_> = (0..round % 4).map(|i| (text(40) + &i.to_string(), text(300))).collect();
        let names: Vec<_> = (0..round % 7).map(|i| text(200) + &i.to_string()).collect();
        let shapes: Vec<Vec<u64>> = (0..names.len())
            .map(|i| vec![1; (round * i) % 90].into_iter().chain([0]).collect())
            .collect();
        let mut tensors: Vec<_> = names
            .iter()
            .zip(&shapes)
            .map(|(name, shape)| {
                TensorSpec::new(&**name, Dtype::F8_E5M2FNUZ, &**shape).with_data(&[])
            })
            .collect();
        let mut pairs: Vec<_> = keys.iter().map(|(k, v)| MetadataPair::new(&**k, &**v)).collect();
        let metadata = (round % 5 > 0).then_some(&mut pairs[..]);
        let options = WriteOptions::new().align((round % 200) as u32).reserve(round as u32);
        let plan = options.plan(&mut tensors, metadata).unwrap();
        let mut file = vec![0; plan.file_len() as usize];
        plan.write_into(&mut file).unwrap();
        let mut port = Port::new();
        wait(wait(stream(&plan, &mut port)).unwrap().finish()).unwrap();
        assert!(port.got == file, "{round}");
    }
}
