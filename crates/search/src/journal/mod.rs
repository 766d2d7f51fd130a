//! What a search has finished, on disk: a search that was interrupted goes on from there.
//!
//! A search is a fixed sequence of jobs that depend on nothing but their arguments, so a result that was written down once is as good as one
//! computed again, to the bit. The file starts with a line that says what it is and a hash of everything that jobs take for granted: version,
//! instruction set, settings, samples and parts. Records follow, each with its length and a checksum:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length n of what follows the checksum, little-endian |
//! | 8 | first bytes of its SHA-256 |
//! | 32 | SHA-256 of the job's arguments |
//! | 8 | its work in multiplications, as f64 |
//! | n - 40 | its result ([`Stored`]) |
//!
//! A record that is cut off or has another checksum was being written when the process ended: it and what follows are dropped. A file that
//! is something else, or of another search, is refused.

mod file;
mod stored;

pub(crate) use file::{Journal, identity};
pub(crate) use stored::Stored;
