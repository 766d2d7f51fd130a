//! Secrets: the link's token and the cookie.

use crate::error::{Result, StudioError};

/// 256 random bits as text.
pub(crate) fn random() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| StudioError::System(format!("no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
pub(crate) fn same(left: &str, right: &str) -> bool {
    let differences = left.bytes().zip(right.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    left.len() == right.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_compare() {
        let (one, other) = (random().expect("random"), random().expect("random"));
        assert_eq!(one.len(), 64);
        assert!(same(&one, &one) && !same(&one, &other) && !same(&one, &one[..63]) && !same("", &one));
    }
}
