//! What happens when the command is told to end while it writes.

use std::process;

use safetensors_core::host::remove_unfinished;

/// Sees to it that no temporary file stays behind. A change in place leaves its recovery file.
pub(crate) fn clean_up() {
    // Without it the command works as well.
    let _ = ctrlc::set_handler(|| {
        remove_unfinished();
        // As a shell has it for Ctrl-C.
        process::exit(130);
    });
}
