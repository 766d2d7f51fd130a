//! Values of a study file that are left out, or may be written in several ways.

use intervalid_model::{MarginActivation, Strategy};
use serde::Deserialize;

pub(super) fn default_strategies() -> Vec<Strategy> {
    vec![Strategy::Cascade, Strategy::Joint]
}

pub(super) fn default_margins() -> Vec<MarginActivation> {
    vec![MarginActivation::Abs, MarginActivation::Relu]
}

pub(super) fn default_coverages() -> Vec<f64> {
    vec![0.9]
}

pub(super) fn default_seeds() -> Vec<u64> {
    vec![1]
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of seeds or a range such as \"1..10\"")]
enum Seeds {
    List(Vec<u64>),
    Range(String),
}

pub(super) fn seeds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    match Seeds::deserialize(deserializer)? {
        Seeds::List(list) => Ok(list),
        Seeds::Range(text) => {
            let ends = text
                .split_once("..")
                .map(|(first, last)| (first.trim().parse(), last.trim().parse()));
            match ends {
                // More seeds than anyone waits for are a mistake, and would fill the memory.
                Some((Ok(first), Ok(last))) if first <= last && last - first < 100_000 => Ok((first..=last).collect()),
                _ => Err(serde::de::Error::custom(format!(
                    "seeds = \"{text}\" is not allowed: expected a range such as \"1..10\""
                ))),
            }
        }
    }
}

pub(super) fn some_names<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    one_or_more(deserializer).map(Some)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

pub(super) fn one_or_more<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(value) => vec![value],
        OneOrMore::More(values) => values,
    })
}
