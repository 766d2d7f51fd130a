//! What a monitor says.

use serde::{Deserialize, Serialize};

use super::moments::Moments;

/// How a model in use is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Not enough evidence against the promise so far.
    Ok,
    /// Something has changed, or may have: look at it.
    Watch,
    /// The promise is broken.
    Refit,
}

impl Health {
    /// As in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Watch => "watch",
            Self::Refit => "refit",
        }
    }
}

/// What is tested of every output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriftKind {
    /// More samples outside the band than promised.
    Coverage,
    /// The mean of the residual has moved.
    Level,
    /// The plant answers more, or less, than it did.
    Gain,
    /// What level and gain do not explain has grown.
    Noise,
}

impl DriftKind {
    /// In the order of evidence in a [`TrendPoint`].
    pub const ALL: [Self; 4] = [Self::Coverage, Self::Level, Self::Gain, Self::Noise];

    /// As in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Coverage => "coverage",
            Self::Level => "level",
            Self::Gain => "gain",
            Self::Noise => "noise",
        }
    }
}

/// Everything that a [`Monitor`](super::Monitor) can say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MonitorReport {
    /// How the model is.
    pub state: Health,
    /// Samples seen.
    pub samples: u64,
    /// Full blocks of them.
    pub blocks: u64,
    /// Samples per block, once that is decided.
    pub block_length: Option<u64>,
    /// Samples that are missing to decide it.
    pub samples_to_start: Option<u64>,
    /// Probability that a model which keeps its promise is ever told to be refitted, at the most.
    pub false_alarm: f64,
    /// Samples ahead of the predictions; none of free runs.
    pub horizon: Option<usize>,
    /// α.
    pub promised_coverage: f64,
    /// Whether that is of all outputs together: the coverage of each output is then that of all.
    pub together: bool,
    /// Less than this share inside is what the test of the coverage looks for.
    pub least_coverage: f64,
    /// Evidence from which a test says `watch`.
    pub watch_at: f64,
    /// Evidence from which it says `refit`.
    pub refit_at: f64,
    /// Share of samples outside the region of the training data, where the model knows it.
    pub extrapolated: Option<f64>,
    /// The same of about the last hundred samples.
    pub recently_extrapolated: Option<f64>,
    /// Samples that had been seen when a refit was called for.
    pub refit_since: Option<u64>,
    /// Per output.
    pub outputs: Vec<OutputHealth>,
    /// Why the model is as it is, for people.
    pub reasons: Vec<String>,
}

/// One output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputHealth {
    /// Its name.
    pub name: String,
    /// Its unit, if known.
    pub unit: Option<String>,
    /// Share of all samples inside the band; where that is for all outputs together, of those with every output inside.
    pub coverage: Option<f64>,
    /// The same of the last blocks.
    pub recent_coverage: Option<f64>,
    /// What most of a change comes from, where there is one.
    pub cause: Option<DriftKind>,
    /// What each test says.
    pub tests: Tests,
    /// Its course, oldest first; of a long one, several blocks per point.
    pub trend: Vec<TrendPoint>,
}

/// The tests of one output.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tests {
    /// Shares inside the band.
    pub coverage: TestHealth,
    /// Means of y - ŷ, in the output's unit.
    pub level: TestHealth,
    /// Slopes of y - ŷ over ŷ: 0.1 where the plant answers a tenth more than the model.
    pub gain: TestHealth,
    /// Standard deviations of y - ŷ but for level and gain, in the output's unit.
    pub noise: TestHealth,
}

/// One test: evidence against "as it was", and the estimate that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TestHealth {
    /// What it says by itself.
    pub state: Health,
    /// The e-process now.
    pub evidence: f64,
    /// The greatest it ever was.
    pub greatest_evidence: f64,
    /// The estimate over the last blocks.
    pub now: f64,
    /// The estimate over the first blocks.
    pub at_first: f64,
}

/// A stretch of the past.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrendPoint {
    /// Samples up to its end.
    pub end: u64,
    /// Share inside the band.
    pub coverage: f64,
    /// Mean of y - ŷ, in the output's unit.
    pub level: f64,
    /// Slope of y - ŷ over ŷ.
    pub gain: f64,
    /// Standard deviation of the rest, in the output's unit.
    pub noise: f64,
    /// Half-width of the band, in the output's unit.
    pub half_width: f64,
    /// Evidence at its end, in the order of [`DriftKind::ALL`].
    pub evidence: [f64; 4],
}

/// More samples than this share outside the region of the training data, of late, call for a look.
pub(super) const WATCH_EXTRAPOLATED: f64 = 0.1;

/// Where the mean square of the residual has grown.
pub(super) struct Causes {
    pub(super) recent: Moments,
    pub(super) reference: Moments,
    /// Standard deviation that the band promises if errors are normal.
    pub(super) promised_deviation: f64,
}

impl Causes {
    /// The kind with the greatest part of the growth: since the first blocks where a test says that something has changed since, else,
    /// where only the coverage is lost, against the promise. Not by the tests alone: a gain also raises the variance within a block, and
    /// the test of the noise is quicker.
    pub(super) fn main(&self, tests: &Tests) -> Option<DriftKind> {
        let drifts = [tests.level.state, tests.gain.state, tests.noise.state];
        let growth = match (drifts.into_iter().max(), tests.coverage.state) {
            (None | Some(Health::Ok), Health::Ok) => return None,
            (None | Some(Health::Ok), _) => self.since([0.0, 0.0, self.promised_deviation.powi(2)]),
            _ => self.since([self.reference.level(), self.reference.gain(), self.reference.noise()]),
        };
        let kinds = [DriftKind::Level, DriftKind::Gain, DriftKind::Noise].into_iter();
        kinds
            .zip(growth)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(kind, _)| kind)
    }

    /// Growth of the mean square by level, gain and noise since these were so.
    fn since(&self, [level, gain, noise]: [f64; 3]) -> [f64; 3] {
        [
            (self.recent.level() - level).powi(2),
            (self.recent.gain() - gain).powi(2) * self.recent.excitation(),
            (self.recent.noise() - noise).max(0.0),
        ]
    }
}

/// Why the model is as it is, for people.
pub(super) fn reasons(report: &MonitorReport) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(missing) = report.samples_to_start {
        let samples = if missing == 1 { "sample is" } else { "samples are" };
        found.push(format!(
            "{missing} more {samples} needed before anything can be tested."
        ));
    }
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    for (index, output) in report.outputs.iter().enumerate() {
        let name = match report.outputs.len() {
            1 => String::new(),
            _ => format!("{}: ", output.name),
        };
        let unit = output.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        let Tests {
            coverage,
            level,
            gain,
            noise,
        } = &output.tests;
        // Of all outputs together there is one share.
        if coverage.state != Health::Ok && !(report.together && index > 0) {
            let whose = match report.together {
                true => "the band holds all outputs together too seldom".to_owned(),
                false => format!("{name}the band holds too few samples"),
            };
            found.push(format!(
                "{whose}: {} of the last ones, {} of all, promised are {}.",
                percent(coverage.now),
                percent(output.coverage.unwrap_or(coverage.now)),
                percent(report.promised_coverage)
            ));
        }
        for (test, kind, text) in [
            (
                level,
                DriftKind::Level,
                format!(
                    "the level has moved: y - ŷ is {:.3}{unit} on the average, it was {:.3}{unit} at first",
                    level.now, level.at_first
                ),
            ),
            (
                gain,
                DriftKind::Gain,
                format!(
                    "the gain has moved: the plant answers {} of what the model does, it was {} at first",
                    percent(1.0 + gain.now),
                    percent(1.0 + gain.at_first)
                ),
            ),
            (
                noise,
                DriftKind::Noise,
                format!(
                    "the noise has grown: standard deviation {:.3}{unit}, it was {:.3}{unit} at first",
                    noise.now, noise.at_first
                ),
            ),
        ] {
            if test.state != Health::Ok {
                let main = if output.cause == Some(kind) {
                    " (most of the change)"
                } else {
                    ""
                };
                found.push(format!("{name}{text}{main}."));
            }
        }
        let drifts = [level, gain, noise];
        if coverage.state != Health::Ok
            && drifts.into_iter().all(|test| test.state == Health::Ok)
            && let Some(cause) = output.cause
        {
            found.push(format!(
                "{name}nothing has changed since the first block; against the promise, most of the error is in the {}.",
                cause.name()
            ));
        }
    }
    if let Some(share) = report.recently_extrapolated.filter(|share| *share > WATCH_EXTRAPOLATED) {
        found.push(format!(
            "{} of the last hundred samples lie outside the region of the training data.",
            percent(share)
        ));
    }
    found
}
