//! Results of a folder beside published figures.

use serde::Serialize;

use crate::error::Result;
use crate::protocol::{Protocol, Target};
use crate::result::{BenchResult, Score};
use crate::store::Key;

mod render;

pub use render::TableFormat;

/// One table per benchmark and version of its protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchTables {
    /// In the order of the protocols, older versions after newer ones.
    pub benchmarks: Vec<BenchTable>,
}

/// A benchmark's results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchTable {
    /// Name of the benchmark.
    pub benchmark: String,
    /// As in headings.
    pub title: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// Whether this program knows the protocol under another version: nothing published stands beside its results then.
    pub outdated: bool,
    /// Where its files are to be had.
    pub home: String,
    /// Samples of a test that are not scored; none of an outdated protocol.
    pub unscored: Option<usize>,
    /// Unit of errors, widths and scores.
    pub unit: String,
    /// What is reported, and its headings.
    pub targets: Vec<Target>,
    /// Headings of the targets.
    pub headings: Vec<String>,
    /// Our fits.
    pub ours: Vec<OurRow>,
    /// What others have published.
    pub published: Vec<PublishedRow>,
}

/// Fits that differ by their seed alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OurRow {
    /// What was asked for.
    pub label: String,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Version of the program.
    pub version: String,
    /// Commits that it was built from, where known.
    pub commits: Vec<String>,
    /// Share of samples that the band should hold.
    pub coverage: f64,
    /// Models that were found, in words.
    pub models: Vec<String>,
    /// Means over seeds, one per target.
    pub scores: Vec<MeanScore>,
    /// Wall-clock time of a fit.
    pub fit_seconds: Option<Mean>,
    /// Time of a step.
    pub step_microseconds: Option<Mean>,
    /// Crisp parameters.
    pub parameters: Option<Mean>,
}

/// Means of a target's scores over seeds; none where one of the runs diverged or a measure does not exist.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "as in `Score`")]
pub struct MeanScore {
    #[serde(flatten)]
    pub target: Target,
    pub rmse: Option<Mean>,
    pub fit_percent: Option<Mean>,
    pub picp: Option<Mean>,
    pub picp_online: Option<Mean>,
    pub width: Option<Mean>,
    pub interval_score: Option<Mean>,
    pub crps: Option<Mean>,
    pub nll: Option<Mean>,
    pub diverged: usize,
}

/// Mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Standard deviation with n - 1; none of one seed.
    pub std: Option<f64>,
}

impl Mean {
    /// That of some numbers; none if there are none or one is missing.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        match values.len() {
            0 => None,
            1 => Some(Self { mean, std: None }),
            _ => Some(Self {
                mean,
                std: Some((squares / (n - 1.0)).sqrt()),
            }),
        }
    }
}

/// Published figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedRow {
    /// The method.
    pub method: String,
    /// Key in `docs/references.bib`, if known.
    pub source: Option<String>,
    /// Whether the figures were seen in the source itself.
    pub checked: bool,
    /// One per target; none where nothing is published.
    pub rmse: Vec<Option<f64>>,
}

impl BenchTables {
    /// The tables of some results.
    ///
    /// # Errors
    /// None that a test of this crate would let pass: those of the built-in protocols.
    pub fn new(results: &[BenchResult]) -> Result<Self> {
        let protocols = Protocol::all()?;
        let mut sections: Vec<(&str, u32)> = Vec::new();
        for result in results {
            let section = (result.key.benchmark.as_str(), result.key.protocol);
            if !sections.contains(&section) {
                sections.push(section);
            }
        }
        let place = |name: &str| {
            let known = protocols.iter().position(|protocol| protocol.name == name);
            known.unwrap_or(protocols.len())
        };
        sections.sort_by_key(|(name, version)| (place(name), name.to_owned(), u32::MAX - version));
        let benchmarks = sections.into_iter().map(|(name, version)| {
            let of_section: Vec<&BenchResult> = results
                .iter()
                .filter(|result| result.key.benchmark == name && result.key.protocol == version)
                .collect();
            let protocol = protocols.iter().find(|protocol| protocol.name == name);
            BenchTable::new(name, version, protocol, &of_section)
        });
        Ok(Self {
            benchmarks: benchmarks.collect(),
        })
    }
}

impl BenchTable {
    fn new(name: &str, version: u32, protocol: Option<&Protocol>, results: &[&BenchResult]) -> Self {
        let current = protocol.filter(|protocol| protocol.version == version);
        let scored = |score: &Score| Target {
            test: score.test.clone(),
            output: score.output.clone(),
        };
        let first = results.first();
        // Older rules may have had other tests: what was scored says.
        let targets: Vec<Target> = match current {
            Some(protocol) => protocol.targets(),
            None => first.map_or_else(Vec::new, |result| result.scores.iter().map(scored).collect()),
        };
        let heading = |target: &Target| match current {
            Some(protocol) => protocol.heading(target),
            None => format!("{}, {}", target.test, target.output),
        };
        let published = current.map_or_else(Vec::new, |protocol| published(protocol, &targets));
        Self {
            benchmark: name.to_owned(),
            title: protocol.map_or(name, |protocol| protocol.title.as_str()).to_owned(),
            protocol: version,
            outdated: current.is_none(),
            home: protocol.map_or_else(String::new, |protocol| protocol.home.clone()),
            unscored: current.map(|protocol| protocol.unscored),
            unit: first.map_or_else(String::new, |result| result.unit.clone()),
            headings: targets.iter().map(heading).collect(),
            ours: ours(results, &targets),
            published,
            targets,
        }
    }
}

fn published(protocol: &Protocol, targets: &[Target]) -> Vec<PublishedRow> {
    let row = |published: &crate::protocol::Published| {
        let own = protocol.targets_of(published);
        let figure = |target: &Target| {
            let place = own.iter().position(|own| own == target)?;
            published.rmse.get(place).copied()
        };
        PublishedRow {
            method: published.method.clone(),
            source: published.source.clone(),
            checked: published.checked,
            rmse: targets.iter().map(figure).collect(),
        }
    };
    protocol.published.iter().map(row).collect()
}

fn ours(results: &[&BenchResult], targets: &[Target]) -> Vec<OurRow> {
    let mut groups: Vec<(Key, Vec<&BenchResult>)> = Vec::new();
    for &result in results {
        let key = result.key.without_seed();
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(result),
            None => groups.push((key, vec![result])),
        }
    }
    groups.iter().map(|(key, group)| our_row(key, group, targets)).collect()
}

fn our_row(key: &Key, group: &[&BenchResult], targets: &[Target]) -> OurRow {
    let mut group = group.to_vec();
    group.sort_by_key(|result| result.key.seed);
    let each = |value: &dyn Fn(&BenchResult) -> Option<f64>| Mean::of(group.iter().map(|result| value(result)));
    let unique = |values: Vec<String>| {
        let mut seen: Vec<String> = Vec::new();
        for value in values {
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        seen
    };
    let in_words = |result: &&BenchResult| {
        let memory = match result.memory.as_str() {
            "" => String::new(),
            memory => format!(", {memory}"),
        };
        match result.members {
            0 | 1 => format!("{}{memory}", result.model),
            members => format!("{members} {}{memory}", result.model),
        }
    };
    OurRow {
        label: key.label(),
        seeds: group.iter().map(|result| result.key.seed).collect(),
        version: key.version.clone(),
        commits: unique(group.iter().filter_map(|result| result.commit.clone()).collect()),
        coverage: group.first().map_or(0.0, |result| result.coverage),
        models: unique(group.iter().map(in_words).collect()),
        scores: targets.iter().map(|target| mean_score(&group, target)).collect(),
        fit_seconds: each(&|result| Some(result.fit_seconds)),
        step_microseconds: each(&|result| result.step.as_ref().map(|step| step.microseconds)),
        parameters: each(&|result| Some(result.parameters as f64)),
    }
}

fn mean_score(group: &[&BenchResult], target: &Target) -> MeanScore {
    let of = |result: &BenchResult| {
        let mut scores = result.scores.iter();
        scores
            .find(|score| score.test == target.test && score.output == target.output)
            .cloned()
    };
    let scores: Vec<Option<Score>> = group.iter().map(|result| of(result)).collect();
    let mean = |measure: fn(&Score) -> Option<f64>| {
        let values = scores.iter().map(|score| score.as_ref().and_then(measure));
        Mean::of(values)
    };
    MeanScore {
        target: target.clone(),
        rmse: mean(|score| score.rmse),
        fit_percent: mean(|score| score.fit_percent),
        picp: mean(|score| score.picp),
        picp_online: mean(|score| score.picp_online),
        width: mean(|score| score.width),
        interval_score: mean(|score| score.interval_score),
        crps: mean(|score| score.crps),
        nll: mean(|score| score.nll),
        diverged: scores
            .iter()
            .flatten()
            .filter(|score| score.diverged_at.is_some())
            .count(),
    }
}
