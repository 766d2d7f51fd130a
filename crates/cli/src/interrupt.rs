//! Signals. Ctrl-C: the first one asks the work to stop where it can go on later, a second one ends the program. A file that grows
//! beyond a limit: an error like a full disk.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTENING: Once = Once::new();

/// From now on Ctrl-C sets a flag. Without it (no such signal here) Ctrl-C ends the program at once, which checkpoints
/// survive as well.
pub(crate) fn listen() {
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if REQUESTED.swap(true, Ordering::SeqCst) {
                std::process::exit(1);
            }
        });
    });
}

/// Whether the user wants to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// The flag itself, for work in other threads.
pub(crate) fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// From now on writing beyond the limit on the size of files (`ulimit -f`) is an error with a message, as on a full disk, where the
/// signal for it would end the program without a word.
pub(crate) fn report_large_files() {
    #[cfg(unix)]
    // SAFETY: ignoring a signal runs no code of ours; nothing else in the program handles this one.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
