//! A share of a study's runs, for job arrays: one machine per shard, no word between them.

use std::fmt;
use std::str::FromStr;

use crate::error::{Result, StudyError};

/// One of several equal shares of a study, counted from 1: `1/4`, `2/4`, `3/4`, `4/4`.
///
/// ```
/// use intervalid_study::Shard;
///
/// let shard: Shard = "2/4".parse()?;
/// assert_eq!((shard.index(), shard.count()), (2, 4));
/// assert!("0/4".parse::<Shard>().is_err());
/// # Ok::<(), intervalid_study::StudyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// Shard `index` of `count`.
    ///
    /// # Errors
    /// [`StudyError::Shard`] unless 1 ≤ `index` ≤ `count`.
    pub fn new(index: usize, count: usize) -> Result<Self> {
        let advice = match (index, count) {
            (_, 0) => "a study has at least one shard".to_owned(),
            (0, _) => format!("shards count from 1, so an index from 0 must be one more: 1/{count} … {count}/{count}"),
            _ if index > count => format!("the last shard is {count}/{count}"),
            _ => return Ok(Self { index, count }),
        };
        Err(StudyError::Shard {
            found: format!("{index}/{count}"),
            advice,
        })
    }

    /// Which one, from 1.
    #[must_use]
    pub fn index(self) -> usize {
        self.index
    }

    /// Of how many.
    #[must_use]
    pub fn count(self) -> usize {
        self.count
    }

    /// Whether the job at this place (from 0) belongs to the shard. Places are dealt forwards and backwards in turn, since
    /// long jobs come first: otherwise the first shard would have the longest job of every seed.
    pub(crate) fn takes(self, place: usize) -> bool {
        let (round, column) = (place / self.count, place % self.count);
        let dealt = if round % 2 == 0 {
            column
        } else {
            self.count - 1 - column
        };
        dealt + 1 == self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = StudyError;

    fn from_str(text: &str) -> Result<Self> {
        let numbers = text
            .split_once('/')
            .and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((index, count)) => Self::new(index, count),
            // An array index that the scheduler has not set leaves a hole, as in "/4".
            None => Err(StudyError::Shard {
                found: text.to_owned(),
                advice: "expected INDEX/COUNT such as 2/4".to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_one_shard_and_none_has_much_more() {
        for count in 1..7 {
            let mut sizes = vec![0; count];
            for place in 0..40 {
                let takers: Vec<usize> = (1..=count)
                    .filter(|&index| Shard::new(index, count).is_ok_and(|shard| shard.takes(place)))
                    .collect();
                assert_eq!(takers.len(), 1);
                sizes[takers[0] - 1] += 1;
            }
            let (least, most) = (sizes.iter().min(), sizes.iter().max());
            assert!(
                most.zip(least).is_some_and(|(most, least)| most - least <= 1),
                "{sizes:?}"
            );
        }
    }

    #[test]
    fn misuse_is_explained() {
        for (text, expected) in [
            ("0/4", "count from 1"),
            ("5/4", "the last shard is 4/4"),
            ("1/0", "at least one"),
            ("/4", "such as 2/4"),
            ("3", "such as 2/4"),
            ("-1/4", "such as 2/4"),
            ("a/b", "such as 2/4"),
        ] {
            let message = text.parse::<Shard>().unwrap_err().to_string();
            assert!(message.contains(text) && message.contains(expected), "{message}");
        }
        assert_eq!("4/4".parse::<Shard>().unwrap().to_string(), "4/4");
    }
}
