//! A fit to the official training records, judged on the official tests.

use std::time::{Duration, Instant};

use intervalid_data::{Dataset, InitialState, Part, Segment};
use intervalid_model::{Band, Control, History, Method, Model, ModelError, Simulator, align};
use intervalid_workflow::{FitRequest, RecordStamp, Settings, TrainOptions, Training, WorkflowError};

use crate::error::{BenchError, Result};
use crate::files::Benchmark;
use crate::protocol::{Protocol, Target};
use crate::result::{BenchResult, FORMAT, Score, StepTiming};
use crate::score::Judged;
use crate::store::Key;

/// Most steps of a round of timing.
const TIMED_STEPS: usize = 5000;

/// What is to be fitted.
#[derive(Clone, Debug, Default)]
pub struct BenchRequest {
    /// As for `fit`; the start of simulations is the protocol's where it is not given.
    pub settings: Settings,
    /// Most time of a search.
    pub budget: Option<Duration>,
    /// Most threads.
    pub threads: usize,
}

impl BenchRequest {
    /// The fit that this asks for under the rules of a benchmark.
    ///
    /// A search starts its models from the samples that the protocol leaves unscored; one network starts as its settings say.
    ///
    /// # Errors
    /// If a setting is out of range, a budget is given for what is no search, or a model would start from more outputs than the
    /// protocol allows.
    pub fn fit(&self, protocol: &Protocol) -> Result<FitRequest> {
        let mut settings = self.settings.clone();
        let is_search = matches!(FitRequest::new(&settings, "")?, FitRequest::Search(..));
        if self.budget.is_some() && !is_search {
            return Err(WorkflowError::BudgetWithoutSearch.into());
        }
        // n known outputs are n - 1 samples after the first.
        let warmup = protocol.unscored.saturating_sub(1);
        if is_search && warmup > 0 {
            settings.initial.get_or_insert(InitialState::History(warmup));
        }
        let request = FitRequest::new(&settings, "")?;
        let (given, initial) = match &request {
            FitRequest::One { config, .. } => ((!config.lag_search).then_some(config.lags), config.initial),
            FitRequest::Search(config, _) => (config.lags, config.initial()),
        };
        let known = match (given, initial) {
            (Some(lags), initial) => initial.known_samples(lags),
            (None, initial) => initial.unscored() + 1,
        };
        check_start(protocol, known)?;
        Ok(request)
    }

    /// What tells this run from others.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn key(&self, benchmark: &Benchmark) -> Result<Key> {
        let request = self.fit(&benchmark.protocol)?;
        let mut settings = serde_json::to_value(request.to_table()?)?;
        let seed = settings
            .as_object_mut()
            .and_then(|settings| settings.remove("seed"))
            .and_then(|seed| seed.as_u64());
        let asked = match &request {
            FitRequest::One { config, .. } => format!("{}, preset paper", config.model),
            FitRequest::Search(config, _) => config
                .model
                .map_or_else(|| "auto".to_owned(), |model| model.to_string()),
        };
        let stamp = RecordStamp::new(&benchmark.dataset, &benchmark.split);
        Ok(Key {
            benchmark: benchmark.protocol.name.clone(),
            protocol: benchmark.protocol.version,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            asked,
            settings,
            budget_seconds: self.budget.map(|budget| budget.as_secs_f64()),
            seed: seed.unwrap_or_default(),
            data: stamp.data,
        })
    }

    /// Fits and judges.
    ///
    /// # Errors
    /// As [`fit`](Self::fit); if the fit fails or is cancelled.
    pub fn run(&self, benchmark: &Benchmark, control: Control<'_>) -> Result<BenchResult> {
        let Benchmark {
            protocol,
            dataset,
            split,
            ..
        } = benchmark;
        let key = self.key(benchmark)?;
        let request = self.fit(protocol)?;
        request.check(dataset, split)?;
        let options = TrainOptions {
            control: Control {
                // A time beyond all clocks is no limit.
                deadline: self.budget.and_then(|budget| Instant::now().checked_add(budget)),
                ..control
            },
            threads: self.threads,
            ..TrainOptions::default()
        };
        let trained = request.train(dataset, split, options)?;
        let (model, training) = (&trained.model, &trained.training);
        let config = model.config();
        let start_outputs = config.initial.known_samples(config.lags);
        check_start(protocol, start_outputs)?;
        let mut scores = Vec::new();
        for (test, segment) in protocol.test.iter().zip(split.test.segments()) {
            scores.extend(judge(protocol, model, dataset, &test.name, *segment)?);
        }
        Ok(BenchResult {
            format: FORMAT,
            commit: Some(env!("INTERVALID_BUILT_FROM"))
                .filter(|commit| !commit.is_empty())
                .map(str::to_owned),
            unit: protocol.unit.clone(),
            coverage: config.coverage,
            model: model.kind(),
            members: model.members(),
            memory: model.memory_in_words(),
            parameters: model.parameters(),
            start_outputs,
            train_samples: split.train.samples() + split.validation.samples(),
            fit_seconds: training.duration().as_secs_f64(),
            stopped_because: training.stopped_because(),
            capped_after_rounds: capped_after(training),
            step: step_timing(model, dataset, split.test.segments())?,
            scores,
            key,
        })
    }
}

fn check_start(protocol: &Protocol, found: usize) -> Result<()> {
    let allowed = protocol.unscored.max(1);
    match found > allowed {
        true => Err(BenchError::Start {
            benchmark: protocol.name.clone(),
            allowed,
            found,
        }),
        false => Ok(()),
    }
}

fn capped_after(training: &Training) -> Option<usize> {
    training.search().filter(|info| info.capped).map(|info| info.rounds)
}

/// One free run over a whole test, its first samples left out.
fn judge(protocol: &Protocol, model: &Model, dataset: &Dataset, test: &str, segment: Segment) -> Result<Vec<Score>> {
    let part = Part::from_segments(vec![segment]);
    let bands = model.simulate(dataset, &part)?;
    let online = model.online(dataset, &bands)?;
    let [bands, online] = [bands, online].map(|bands| unscored(bands, protocol.unscored));
    let is_normal = matches!(
        model.kind().method(),
        Method::Bayesian | Method::Dropout | Method::Ensemble
    ) && model.interface().calibration.is_none();
    let coverage = model.config().coverage;
    let outputs = protocol.outputs.iter().enumerate();
    let scores = outputs.map(|(index, output)| {
        let judged = Judged {
            offline: &align(dataset, &bands, index)?,
            online: &align(dataset, &online, index)?,
        };
        let target = Target {
            test: test.to_owned(),
            output: output.clone(),
        };
        Ok(judged.score(target, coverage, protocol.factor, is_normal))
    });
    scores.collect()
}

/// The same bands with every sample before `n` left out of the scores.
fn unscored(bands: Vec<Band>, n: usize) -> Vec<Band> {
    let one = |band: Band| Band {
        warmup: band.warmup.max(n.saturating_sub(band.first)),
        ..band
    };
    bands.into_iter().map(one).collect()
}

fn step_timing(model: &Model, dataset: &Dataset, tests: &[Segment]) -> Result<Option<StepTiming>> {
    let Some(longest) = tests.iter().max_by_key(|segment| segment.len()) else {
        return Ok(None);
    };
    let mut simulator = match Simulator::new(model) {
        Ok(simulator) => simulator,
        Err(ModelError::NotStepwise { .. }) => {
            let part = Part::from_segments(vec![*longest]);
            let started = Instant::now();
            model.simulate(dataset, &part)?;
            return Ok(Some(StepTiming {
                microseconds: 1e6 * started.elapsed().as_secs_f64() / longest.len() as f64,
                one_by_one: false,
            }));
        }
        Err(error) => return Err(error.into()),
    };
    let experiment = &dataset.experiments()[longest.experiment];
    let rows = |from: usize, to: usize, channels: usize, column: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        let samples = from..to;
        samples
            .flat_map(|sample| (0..channels).map(move |channel| column(channel, sample)))
            .collect()
    };
    let input = |channel: usize, sample: usize| experiment.input(channel)[sample];
    let output = |channel: usize, sample: usize| experiment.output(channel)[sample];
    let needs = simulator.needs();
    let first = needs.outputs.max(needs.least_inputs);
    let last = experiment.len().min(first + TIMED_STEPS);
    if first >= last {
        return Ok(None);
    }
    let past_inputs = rows(
        first.saturating_sub(needs.inputs),
        first,
        dataset.inputs().len(),
        &input,
    );
    let past_outputs = rows(first - needs.outputs, first, dataset.outputs().len(), &output);
    let steps: Vec<Vec<f64>> = (first..last)
        .map(|sample| rows(sample, sample + 1, dataset.inputs().len(), &input))
        .collect();
    let mut rounds = Vec::new();
    for _ in 0..3 {
        let history = History {
            inputs: &past_inputs,
            outputs: &past_outputs,
        };
        simulator.reset(history)?;
        let started = Instant::now();
        // A run that diverges ends early, and takes fewer steps.
        let taken = steps.iter().take_while(|inputs| simulator.step(inputs).is_ok()).count();
        if taken == 0 {
            return Ok(None);
        }
        rounds.push(1e6 * started.elapsed().as_secs_f64() / taken as f64);
    }
    rounds.sort_by(f64::total_cmp);
    Ok(Some(StepTiming {
        microseconds: rounds[1],
        one_by_one: true,
    }))
}
