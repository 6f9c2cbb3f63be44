//! What every public type can do: cross threads, be shown for debugging, be copied; and the sizes
//! that are promised.

use std::fmt::Debug;

use safetensors_core::{
    ByteRanges, Chars, Deviation, DeviationKind, Deviations, Dims, DisplayError, DisplayWriteError,
    Dtype, ElementIter, Elements, Entries, Entry, Error, ErrorKind, Header, Index, Infos,
    InfosByOffset, Metadata, MetadataPair, Names, Options, Overflow, Pairs, Plan, Position,
    Quantized, Quoted, Runs, SafeTensors, Scan, Shape, ShapeSpec, Slice, SliceDims, Slot,
    TensorIndexer, TensorInfo, TensorSlice, TensorSpec, TensorView, Tensors, TensorsByOffset, Text,
    Values, WriteError, WriteErrorKind, WriteOptions,
};

fn anywhere<T: Send + Sync + Unpin + Clone + Debug>() {}

fn plain<T: Send + Sync + Unpin + Copy + Debug>() {}

#[test]
fn values_are_plain() {
    plain::<Deviation<'_>>();
    plain::<DeviationKind>();
    plain::<DisplayError<'_>>();
    plain::<DisplayWriteError<'_>>();
    plain::<Dtype>();
    plain::<Elements<'_>>();
    plain::<Entry<'_>>();
    plain::<Error>();
    plain::<ErrorKind>();
    plain::<Header<'_>>();
    plain::<Index<'_, '_>>();
    plain::<Metadata<'_>>();
    plain::<MetadataPair<'_>>();
    plain::<Options>();
    plain::<Overflow>();
    plain::<Plan<'_>>();
    plain::<Position>();
    plain::<Quantized<'_>>();
    plain::<Quoted<'_>>();
    plain::<SafeTensors<'_, '_>>();
    plain::<Scan>();
    plain::<Shape<'_>>();
    plain::<ShapeSpec<'_>>();
    plain::<Slice<'_, 4>>();
    plain::<Slot>();
    plain::<TensorIndexer>();
    plain::<TensorInfo<'_>>();
    plain::<TensorSlice<'_, 4>>();
    plain::<TensorSpec<'_>>();
    plain::<TensorView<'_>>();
    plain::<Text<'_>>();
    plain::<WriteError>();
    plain::<WriteErrorKind>();
    plain::<WriteOptions>();
}

#[test]
fn iterators_can_be_kept() {
    anywhere::<ByteRanges<4>>();
    anywhere::<Chars<'_>>();
    anywhere::<Deviations<'_>>();
    anywhere::<Dims<'_>>();
    anywhere::<ElementIter<'_, f32>>();
    anywhere::<Entries<'_>>();
    anywhere::<Infos<'_>>();
    anywhere::<InfosByOffset<'_, '_>>();
    anywhere::<Names<'_>>();
    anywhere::<Pairs<'_>>();
    anywhere::<Runs<'_, 4>>();
    anywhere::<SliceDims<'_, 4>>();
    anywhere::<Tensors<'_>>();
    anywhere::<TensorsByOffset<'_, '_>>();
    anywhere::<Values<'_>>();
}

#[test]
fn errors_and_slots_are_small() {
    assert_eq!(size_of::<Error>(), 16);
    assert_eq!(size_of::<Result<(), Error>>(), 16);
    assert_eq!(size_of::<WriteError>(), 16);
    assert_eq!(size_of::<Slot>(), 40);
    fn is_error<E: std::error::Error>() {}
    is_error::<Error>();
    is_error::<WriteError>();
}
