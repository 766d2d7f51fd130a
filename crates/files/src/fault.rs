//! Faults on purpose, to test that every one of them leaves old or new results and never a mixture.
//!
//! In debug builds the environment variable `INTERVALID_FAULT=error:N` makes the N-th file operation of the process fail as on a
//! full disk, and `kill:N` ends the process there without any clean-up. Release builds do not read it.

use std::io;

/// Comes before every file operation of this crate and of others that write results.
///
/// # Errors
/// The fault that a test asked for.
#[cfg(not(debug_assertions))]
#[inline]
pub fn point() -> io::Result<()> {
    Ok(())
}

/// Comes before every file operation of this crate and of others that write results.
///
/// # Errors
/// The fault that a test asked for.
#[cfg(debug_assertions)]
pub fn point() -> io::Result<()> {
    use std::io::Write as _;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static WANTED: OnceLock<Option<(bool, u64)>> = OnceLock::new();
    static DONE: AtomicU64 = AtomicU64::new(0);
    let wanted = WANTED.get_or_init(|| parse(&std::env::var("INTERVALID_FAULT").ok()?));
    let Some((kill, at)) = *wanted else { return Ok(()) };
    if DONE.fetch_add(1, Ordering::SeqCst) + 1 != at {
        return Ok(());
    }
    // How a test learns that there was such an operation.
    let _ = writeln!(io::stderr(), "injected fault at operation {at}");
    if kill {
        std::process::abort();
    }
    Err(io::Error::from(io::ErrorKind::StorageFull))
}

/// Whether to end the process, and at which operation.
#[cfg(debug_assertions)]
fn parse(text: &str) -> Option<(bool, u64)> {
    let (kind, at) = text.split_once(':')?;
    let kill = match kind {
        "error" => false,
        "kill" => true,
        _ => return None,
    };
    Some((kill, at.parse().ok()?))
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn faults_by_name() {
        assert_eq!(parse("error:3"), Some((false, 3)));
        assert_eq!(parse("kill:12"), Some((true, 12)));
        for text in ["", "kill", "kill:", "stop:1", "error:-1"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
