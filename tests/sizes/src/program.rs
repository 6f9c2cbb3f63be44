//! What is around the work of every program: nothing, or with the feature `stack` the measuring of it.

use cortex_m as _;
#[cfg(feature = "stack")]
use cortex_m_semihosting::{debug, hprintln};

#[cfg(feature = "stack")]
#[path = "../../images/src/deep.rs"]
mod deep;
#[cfg(feature = "stack")]
#[path = "../../images/src/stack.rs"]
mod stack;

/// What a program does with a file and with memory that is not on the stack; whether it could.
pub type Work<M> = fn(&'static [u8], &mut M) -> bool;

/// Does the work with a file of which the compiler knows nothing. None is in the program, as it would
/// only add to what is measured.
#[cfg(not(feature = "stack"))]
pub fn run<M>(work: Work<M>, memory: &mut M) {
    core::hint::black_box(work(core::hint::black_box(&[]), memory));
}

/// Does the work with a good file and with a bad one, and says how deep the stack grew.
#[cfg(feature = "stack")]
pub fn run<M>(work: Work<M>, memory: &mut M) {
    static MODEL: &Aligned<[u8]> =
        &Aligned(*include_bytes!("../../../examples/digits/digits.safetensors"));
    let most = [&MODEL.0, deep::DEEP].map(|file| stack::used(work, file, &mut *memory));
    hprintln!("stack {}", most[0].max(most[1]));
    // After the measuring, which does not tell what came back.
    assert!(work(&MODEL.0, memory), "the work was not done");
}

#[cfg(feature = "stack")]
#[repr(align(4))]
struct Aligned<T: ?Sized>(T);

/// The end of every program.
pub fn end() -> ! {
    #[cfg(feature = "stack")]
    debug::exit(debug::EXIT_SUCCESS);
    loop {
        core::hint::spin_loop();
    }
}

#[cfg(feature = "stack")]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    debug::exit(debug::EXIT_FAILURE);
    end()
}
