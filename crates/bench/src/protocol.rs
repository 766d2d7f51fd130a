//! What a benchmark is: files, parts, samples that are not scored, unit, published figures. Each is a file in `protocols/` with a
//! version, so that no change of a rule passes unnoticed.

use serde::{Deserialize, Serialize};

use crate::error::{BenchError, Result};

/// The protocols that are compiled in.
const BUILT_IN: [&str; 6] = [
    include_str!("../protocols/silverbox.toml"),
    include_str!("../protocols/wiener-hammerstein.toml"),
    include_str!("../protocols/cascaded-tanks.toml"),
    include_str!("../protocols/coupled-drives.toml"),
    include_str!("../protocols/emps.toml"),
    include_str!("../protocols/f16.toml"),
];

/// An official benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Counts every change that could change a result.
    pub version: u32,
    /// As on the command line.
    pub name: String,
    /// As in tables.
    pub title: String,
    /// Where its files are to be had.
    pub home: String,
    /// Key in `docs/references.bib` of who made it.
    pub cite: String,
    /// Seconds between samples.
    pub sample_time: f64,
    /// Samples of every test that may start a model and are not scored.
    pub unscored: usize,
    /// Unit in which errors are reported.
    pub unit: String,
    /// What an output's number in the file is multiplied by to be in that unit.
    pub factor: f64,
    /// Names of the input channels.
    pub inputs: Vec<String>,
    /// Names of the output channels.
    pub outputs: Vec<String>,
    /// Records for training and validation.
    pub train: Vec<Record>,
    /// Records that are judged one by one.
    pub test: Vec<Record>,
    /// What others have reached.
    #[serde(default)]
    pub published: Vec<Published>,
}

/// One stretch of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// As in tables.
    pub name: String,
    /// Where it is found: the first file that exists.
    pub from: Vec<Source>,
}

/// A file that holds a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name without its ending, `.mat` or `.csv`.
    pub file: String,
    /// Arrays or columns; those of the protocol where none are given.
    #[serde(default)]
    pub inputs: Option<Vec<String>>,
    /// As `inputs`.
    #[serde(default)]
    pub outputs: Option<Vec<String>>,
    /// How a matrix of a MATLAB file holds channels.
    #[serde(default)]
    pub channels: Channels,
    /// Samples of the whole file; another number means another file.
    #[serde(default)]
    pub samples: Option<usize>,
    /// First sample, from 0.
    #[serde(default)]
    pub start: usize,
    /// One past the last sample; the end of the file where it is not given.
    #[serde(default)]
    pub end: Option<usize>,
}

/// How a matrix of a MATLAB file holds channels; a vector holds one, whichever way it lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// No matrix is expected.
    #[default]
    Vectors,
    /// A channel per row: `Acceleration2` is the second row of `Acceleration`.
    Rows,
}

/// Figures that somebody published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The method.
    pub method: String,
    /// Key in `docs/references.bib`; none where the figure was taken over from a list that does not say.
    #[serde(default)]
    pub source: Option<String>,
    /// Whether the figure was seen in the source itself.
    #[serde(default)]
    pub checked: bool,
    /// The test it is of; none: all of them, in order.
    #[serde(default)]
    pub test: Option<String>,
    /// Simulation errors in the protocol's unit: of each test in order, of each output in order.
    pub rmse: Vec<f64>,
}

/// One figure of a table: a test and an output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target {
    /// Name of the test.
    pub test: String,
    /// Name of the output.
    pub output: String,
}

impl Protocol {
    /// All protocols that are compiled in.
    ///
    /// # Errors
    /// None that a test of this crate would let pass.
    pub fn all() -> Result<Vec<Self>> {
        BUILT_IN.iter().map(|text| Self::parse(text)).collect()
    }

    /// The protocol of a name.
    ///
    /// # Errors
    /// [`BenchError::UnknownBenchmark`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        let mut all = Self::all()?;
        match all.iter().position(|protocol| protocol.name == name) {
            Some(index) => Ok(all.swap_remove(index)),
            None => Err(BenchError::UnknownBenchmark {
                name: name.to_owned(),
                known: all.into_iter().map(|protocol| protocol.name).collect(),
            }),
        }
    }

    /// Reads a protocol and checks it.
    ///
    /// # Errors
    /// [`BenchError::Protocol`]
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |name: &str, reason: String| BenchError::Protocol {
            name: name.to_owned(),
            reason,
        };
        let protocol: Self = toml::from_str(text).map_err(|error| wrong("", error.to_string()))?;
        let refused = |reason: String| Err(wrong(&protocol.name, reason));
        if protocol.train.is_empty() || protocol.test.is_empty() || protocol.outputs.is_empty() {
            return refused("records for training, tests and outputs are needed".to_owned());
        }
        if !(protocol.factor.is_finite() && protocol.factor > 0.0) {
            return refused(format!("factor {}: expected a positive number", protocol.factor));
        }
        for record in protocol.train.iter().chain(&protocol.test) {
            if record.from.is_empty() {
                return refused(format!("'{}' is in no file", record.name));
            }
            if let Some(source) = record
                .from
                .iter()
                .find(|source| source.end.is_some_and(|end| end <= source.start))
            {
                return refused(format!("{}: no samples from {} on", source.file, source.start));
            }
        }
        for published in &protocol.published {
            let expected = protocol.targets_of(published).len();
            if published.rmse.len() != expected {
                let found = published.rmse.len();
                return refused(format!("{}: {found} figures, expected {expected}", published.method));
            }
        }
        Ok(protocol)
    }

    /// What is reported, in order.
    #[must_use]
    pub fn targets(&self) -> Vec<Target> {
        let tests = self.test.iter().map(|test| test.name.as_str());
        tests.flat_map(|test| self.targets_in(test)).collect()
    }

    fn targets_in(&self, test: &str) -> impl Iterator<Item = Target> {
        self.outputs.iter().map(move |output| Target {
            test: test.to_owned(),
            output: output.clone(),
        })
    }

    /// What a published row is about, in the order of its figures; empty if it names no test of this protocol.
    #[must_use]
    pub fn targets_of(&self, published: &Published) -> Vec<Target> {
        match &published.test {
            None => self.targets(),
            Some(name) if self.test.iter().any(|test| test.name == *name) => self.targets_in(name).collect(),
            Some(_) => Vec::new(),
        }
    }

    /// A figure's heading: what is needed to tell it from the others of this benchmark.
    #[must_use]
    pub fn heading(&self, target: &Target) -> String {
        match (self.test.len(), self.outputs.len()) {
            (_, 1) => target.test.clone(),
            (1, _) => target.output.clone(),
            _ => format!("{}, {}", target.test, target.output),
        }
    }

    /// Files that a record may come from, by what they are called without their ending.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let records = self.train.iter().chain(&self.test);
        let first = records.filter_map(|record| record.from.first());
        let mut seen: Vec<&str> = Vec::new();
        for source in first {
            if !seen.contains(&source.file.as_str()) {
                seen.push(&source.file);
            }
        }
        seen.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_sound() {
        let all = Protocol::all().expect("all parse");
        let names: Vec<&str> = all.iter().map(|protocol| protocol.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "silverbox",
                "wiener-hammerstein",
                "cascaded-tanks",
                "coupled-drives",
                "emps",
                "f16"
            ]
        );
        // The official windows of 2025; whoever changes one changes the version as well.
        let windows: Vec<(u32, usize)> = all
            .iter()
            .map(|protocol| (protocol.version, protocol.unscored))
            .collect();
        assert_eq!(windows, [(1, 50), (1, 50), (1, 50), (1, 10), (1, 20), (1, 50)]);
        let bibliography = include_str!("../../../docs/references.bib");
        for protocol in &all {
            let sources = protocol
                .published
                .iter()
                .filter_map(|published| published.source.as_ref());
            for key in sources.chain([&protocol.cite]) {
                assert!(
                    bibliography.contains(&format!("{{{key},")),
                    "{key} is in no bibliography"
                );
            }
        }
        assert_eq!(
            (all[5].train.len(), all[5].test.len(), all[5].targets().len()),
            (8, 6, 18)
        );
    }

    #[test]
    fn mistakes_are_named() {
        let text = BUILT_IN[4];
        let message = |from: &str, to: &str| {
            let changed = text.replace(from, to);
            assert_ne!(changed, text, "{from}");
            Protocol::parse(&changed).expect_err("refused").to_string()
        };
        assert!(message("rmse = [2.64]", "rmse = [2.64, 1.0]").contains("dynoNet: 2 figures, expected 1"));
        assert!(message("factor = 1000.0", "factor = 0.0").contains("factor 0"));
        assert!(message("unscored = 20", "unscoredd = 20").contains("unscoredd"));
        let unknown = Protocol::named("emp").expect_err("unknown").to_string();
        assert!(unknown.contains("'emp'") && unknown.contains("silverbox"), "{unknown}");
    }
}
