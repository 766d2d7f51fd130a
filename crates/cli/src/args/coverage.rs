//! Coverages as they are typed.

use intervalid_workflow::main_coverage;

/// One share of samples or several, as given; ranges are checked with all other settings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coverages(Vec<f64>);

impl Coverages {
    /// Rejects text that is not numbers between commas.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let all: Result<Vec<f64>, _> = text.split(',').map(|share| share.trim().parse::<f64>()).collect();
        let number = text.trim_end_matches(['%', ' ']).replace(',', ".").parse::<f64>();
        match (all, number) {
            // 0,9 is one share with a decimal comma: no share is 0.
            (Ok(shares), Ok(value)) if shares.len() == 2 && text.starts_with("0,") => Err(meant(value)),
            (Ok(shares), _) => Ok(Self(shares)),
            (Err(_), Ok(value)) if value > 0.0 && value < 100.0 => Err(meant(value)),
            _ => Err("expected a share between 0 and 1 such as 0.9, or several such as 0.5,0.9,0.99".to_owned()),
        }
    }

    /// The one that decides, which is `preferred` if it is among them, and the others.
    pub(crate) fn main(&self, preferred: f64) -> (f64, Vec<f64>) {
        // Text between commas is at least one.
        main_coverage(&self.0, preferred).unwrap_or((preferred, Vec::new()))
    }
}

/// One share of samples.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match Coverages::parse(text)?.0.as_slice() {
        [share] => Ok(*share),
        _ => Err("expected one share between 0 and 1 such as 0.9".to_owned()),
    }
}

fn meant(value: f64) -> String {
    let share = if value < 1.0 { value } else { value / 100.0 };
    format!("expected a share between 0 and 1 (did you mean {share}?)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_share_or_several() {
        assert_eq!(Coverages::parse("0.9"), Ok(Coverages(vec![0.9])));
        assert_eq!(
            Coverages::parse("0.5, 0.9,0.99").map(|all| all.main(0.9)),
            Ok((0.9, vec![0.5, 0.99]))
        );
        assert_eq!(
            Coverages::parse("0.95,0.5").map(|all| all.main(0.9)),
            Ok((0.95, vec![0.5]))
        );
        for (text, part) in [
            ("0,9", "did you mean 0.9?"),
            ("90%", "did you mean 0.9?"),
            ("high", "or several"),
            ("", "or several"),
        ] {
            assert!(
                Coverages::parse(text).is_err_and(|reason| reason.contains(part)),
                "{text}"
            );
        }
    }
}
