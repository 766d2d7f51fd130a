//! Networks with margins, averaged into one calibrated model.

use intervalid_data::Part;
use intervalid_model::{
    AheadScores, Band, BlockScores, Calibration, Model, ModelError, Scaling, Spread, horizon_scales, mean_band,
    quantile,
};

use crate::ahead::held_out_ahead;
use crate::budget::Budget;
use crate::config::SearchConfig;
use crate::error::Result;
use crate::folds::{Folds, begun_before};
use crate::laps::{Laps, unusual};
use crate::light::{Joined, compared, light_members};
use crate::parallel::map_parallel;
use crate::promise::{own_error, warmup_of_history};
use crate::sizing::{blocks_and_cuts, sized, worse_pieces};

/// A network with margins; the fields of [`Member`](crate::finish::Member).
pub(crate) struct Trained {
    pub(crate) fold: Option<usize>,
    pub(crate) recipe: usize,
    pub(crate) joins: bool,
    pub(crate) model: Model,
}

/// Which of the networks that may join are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Averaged {
    /// All of them.
    All,
    /// Those that do not go astray: one of few can spoil a mean.
    Sound,
    /// Those of the blocks, without those that saw everything.
    OfBlocks,
}

/// A network is astray if its own error over all data is beyond this multiple of what is usual among those that may join.
const ASTRAY: f64 = 3.0;

/// Networks with margins, and what those that had not seen a division say about it.
pub(crate) struct Networks<'a> {
    /// The divisions that they have not seen.
    folds: &'a Folds<'a>,
    members: Vec<Trained>,
    /// What each division's say, `[output][division]`.
    scores: Vec<Vec<BlockScores>>,
    /// The same some samples ahead.
    ahead: Vec<AheadScores>,
}

impl<'a> Networks<'a> {
    /// Asks networks about the divisions that they have not seen.
    pub(crate) fn new(
        folds: &'a Folds<'a>,
        mut members: Vec<Trained>,
        config: &SearchConfig,
        budget: &Budget<'_>,
    ) -> Result<Self> {
        leave_out_drifting(folds, &mut members, budget)?;
        let all: Vec<&Trained> = members.iter().collect();
        let scores = held_out_bands(folds, &blind_to(&all), Spread::of_coverage(config.coverage))?;
        let blind = (0..folds.folds.len()).map(|fold| {
            let of_fold = all.iter().filter(|member| member.fold == Some(fold));
            let of_fold: Vec<Model> = of_fold.map(|member| member.model.clone()).collect();
            match of_fold.is_empty() {
                true => Ok(None),
                false => Ok(Some(Model::ensemble(of_fold)?)),
            }
        });
        let blind = blind.collect::<Result<Vec<Option<Model>>>>()?;
        let ahead = held_out_ahead(folds, &blind, budget.threads)?;
        Ok(Networks {
            folds,
            members,
            scores,
            ahead,
        })
    }
}

/// Networks that drift away where the others do not are there to calibrate alone.
fn leave_out_drifting(folds: &Folds<'_>, members: &mut [Trained], budget: &Budget<'_>) -> Result<()> {
    let mut joining: Vec<&mut Trained> = members.iter_mut().filter(|member| member.joins).collect();
    let Some(laps) = Laps::new(folds)?.filter(|_| joining.len() > 1) else {
        return Ok(());
    };
    let models: Vec<&Model> = joining.iter().map(|member| &member.model).collect();
    let drifts = map_parallel(&models, budget.threads, |model| laps.drift(model));
    for (member, is_unusual) in joining.iter_mut().zip(unusual(&drifts)) {
        member.joins = !is_unusual;
    }
    Ok(())
}

impl Networks<'_> {
    /// Root mean square error on what the first `divisions` hold out, of networks that had not seen it, in standard deviations.
    pub(crate) fn held_out(&self, divisions: usize) -> f64 {
        let (mut squares, mut count) = (0.0, 0_usize);
        for (scores, scale) in self
            .scores
            .iter()
            .zip(&self.members[0].model.interface().normaliser.outputs)
        {
            for error in scores.iter().take(divisions).flat_map(|scores| &scores.error) {
                squares += (error / scale.std).powi(2);
                count += 1;
            }
        }
        (squares / count.max(1) as f64).sqrt()
    }

    fn joining(&self, averaged: Averaged) -> Vec<&Trained> {
        let all: Vec<&Trained> = self.members.iter().filter(|member| member.joins).collect();
        match averaged {
            Averaged::All => all,
            Averaged::OfBlocks => all.iter().copied().filter(|member| member.fold.is_some()).collect(),
            Averaged::Sound => {
                let errors: Vec<f64> = all.iter().map(|member| own_error(&member.model, self.folds)).collect();
                let usual = quantile(errors.clone(), 0.5);
                let own = all.iter().copied().zip(errors);
                own.filter(|(_, error)| *error <= ASTRAY * usual)
                    .map(|(member, _)| member)
                    .collect()
            }
        }
    }

    /// Whether there is a mean of these that is not that of all.
    pub(crate) fn has_fewer(&self, averaged: Averaged) -> bool {
        let (some, all) = (self.joining(averaged).len(), self.joining(Averaged::All).len());
        some > 0 && some < all
    }

    /// The mean of networks as one model with a scaled band.
    pub(crate) fn assemble(&self, config: &SearchConfig, averaged: Averaged) -> Result<(Model, Calibration)> {
        let folds = self.folds;
        // One configuration for all, the first one's: what the others were started from is in their parameters.
        let members = self.joining(averaged);
        let model = Model::ensemble(members.iter().map(|member| member.model.clone()).collect())?;
        let scores = blocks_and_cuts(folds, &self.scores);
        let calibration = sized(&model, &scores, config, model.members());
        let everyone: Vec<&Trained> = self.members.iter().collect();
        let ratios = self.width_ratios(&everyone, &members, &calibration)?;
        let calibration = calibration.for_widths(&ratios);
        let floors: Vec<f64> = calibration.outputs.iter().map(|scaling| scaling.floor).collect();
        let horizons = horizon_scales((&scores.0, &scores.1), &self.ahead, &floors, config.coverage);
        let mut model = model
            .calibrated(Some(calibration.clone()))?
            .with_horizon_scales(horizons)?;
        if model.members() > 1 {
            let joined: Vec<Joined<'_>> = members
                .iter()
                .map(|member| Joined {
                    model: &member.model,
                    recipe: member.recipe,
                    saw_everything: member.fold.is_none(),
                })
                .collect();
            let places = light_members(&model, &joined, folds)?;
            let few: Vec<&Trained> = places.iter().map(|&place| members[place]).collect();
            let light = self.sized_light(&model, &few, config)?;
            model = model.with_light(places, light, folds.dataset, &compared(folds))?;
        }
        Ok((model.with_region(folds.dataset, &folds.all)?, calibration))
    }

    /// By how much bands of networks that had not seen a block are wider, before they are scaled, than those of `joined` on the same samples:
    /// training leaves the size of margins to chance, and a scale that fits one network need not fit another.
    fn width_ratios(&self, networks: &[&Trained], joined: &[&Trained], calibration: &Calibration) -> Result<Vec<f64>> {
        let judging = self.folds.only(self.folds.blocks.max(1));
        let blind = held_out_bands(&judging, &blind_to(networks), Spread::NONE)?;
        let models: Vec<&Model> = joined.iter().map(|member| &member.model).collect();
        let used = held_out_bands(&judging, &|_| models.clone(), Spread::NONE)?;
        // A mean would be that of a few samples where a band is very wide.
        let median = |scores: &[BlockScores], floor: f64| {
            let halves = scores
                .iter()
                .flat_map(|scores| scores.below.iter().chain(&scores.above));
            quantile(halves.map(|half| half.max(floor)).collect(), 0.5)
        };
        let ratio = |((blind, used), scaling): ((&Vec<BlockScores>, &Vec<BlockScores>), &Scaling)| {
            let ratio = median(blind, scaling.floor) / median(used, scaling.floor);
            if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
        };
        Ok(blind.iter().zip(&used).zip(&calibration.outputs).map(ratio).collect())
    }

    /// The calibration of a few members, one of a recipe: by members that had not seen a division, as few and without regard to their
    /// disagreement.
    fn sized_light(&self, model: &Model, few: &[&Trained], config: &SearchConfig) -> Result<Calibration> {
        let is_of = |member: &&Trained| few.iter().any(|kept| kept.recipe == member.recipe);
        let networks: Vec<&Trained> = self.members.iter().filter(is_of).collect();
        let scores = held_out_bands(self.folds, &blind_to(&networks), Spread::NONE)?;
        let calibration = sized(model, &blocks_and_cuts(self.folds, &scores), config, 1);
        let ratios = self.width_ratios(&networks, few, &calibration)?;
        Ok(calibration.for_widths(&ratios))
    }
}

/// The networks that had not seen a division.
fn blind_to<'a>(members: &'a [&'a Trained]) -> impl Fn(usize) -> Vec<&'a Model> {
    |fold| {
        let blind = members.iter().filter(|member| member.fold == Some(fold));
        blind.map(|member| &member.model).collect()
    }
}

/// Bands of what divisions hold out, each the mean of the networks that had not seen it, `[output][division]`; nothing of a division
/// without networks.
fn held_out_bands<'a>(
    folds: &Folds<'_>,
    models_of: &dyn Fn(usize) -> Vec<&'a Model>,
    spread: Spread,
) -> Result<Vec<Vec<BlockScores>>> {
    let outputs = folds.dataset.outputs().len();
    let mut found = vec![Vec::new(); outputs];
    for fold in 0..folds.folds.len() {
        let models = models_of(fold);
        // Models that start from history have it before a block, and were judged so.
        let warmup = models.iter().find_map(|model| warmup_of_history(model));
        let part = match warmup {
            Some(warmup) => folds.historic_runs(fold, warmup),
            None => Part::from_segments(folds.approaches(fold).iter().map(|(run, _)| *run).collect()),
        };
        let bands = folds.or_nothing(fold, mean_bands(folds, &models, &part, spread))?;
        // How well a state is found depends on where a run starts, and how far a run drifts on its length.
        let all = begun_before(&folds.folds[fold].held_out, warmup.unwrap_or(0));
        let whole = match warmup.is_some() && folds.is_long() {
            true => mean_bands(folds, &models, &all, spread)?,
            false => Vec::new(),
        };
        for (output, found) in found.iter_mut().enumerate() {
            let in_pieces = folds.scores(fold, &bands, Some(&part), output)?;
            let as_a_whole = folds.scores(fold, &whole, Some(&all), output)?;
            found.push(worse_pieces(in_pieces, &as_a_whole));
        }
    }
    Ok(found)
}

/// The mean of what models say about a part.
fn mean_bands(folds: &Folds<'_>, models: &[&Model], part: &Part, spread: Spread) -> Result<Vec<Band>> {
    let spreads = vec![spread; folds.dataset.outputs().len()];
    let runs = models.iter().map(|model| model.simulate(folds.dataset, part));
    let runs = runs.collect::<Result<Vec<Vec<Band>>, ModelError>>()?;
    let count = runs.first().map_or(0, Vec::len);
    let mean = |index: usize| mean_band(&runs.iter().map(|bands| &bands[index]).collect::<Vec<_>>(), &spreads);
    Ok((0..count).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use intervalid_data::{LinearSystem, Split, SplitFractions};

    use super::*;
    use crate::choice::hidden_plan;
    use crate::config::SearchOptions;
    use crate::hidden_states::HiddenSearch;
    use crate::state_space::StateSpace;

    #[test]
    fn a_network_that_goes_astray_can_be_left_out() {
        let dataset = LinearSystem::default()
            .generate(400, 3)
            .expect("generates")
            .into_dataset();
        let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let config = SearchConfig::default();
        let budget = Budget::new(&SearchOptions::default());
        let mut search = HiddenSearch::new(&folds, 0, &config).expect("long enough");
        assert!(search.linear_models(&budget).expect("fits"));
        let mut candidates = search.candidates.iter();
        let candidate = candidates.find(|candidate| candidate.started.is_some());
        let candidate = candidate.expect("the best are started");
        let started = candidate.started.as_ref().expect("it is");
        let finishing = folds.with_cuts();
        let networks = |offset_of_the_first: f64| {
            let mut observed = search.observed(candidate, started, &budget);
            let mut theta = observed[0].model.theta().to_vec();
            // The bias of the output comes last.
            *theta.last_mut().expect("parameters") += offset_of_the_first;
            observed[0].model = StateSpace::new(observed[0].model.shape(), theta);
            let plan = hidden_plan(vec![observed], candidate.lags(), started.judged.history, &config);
            plan.expect("plans")
                .train(&finishing, &config, &budget)
                .expect("trains")
        };
        let sound = networks(0.0);
        assert!(!sound.has_fewer(Averaged::Sound) && sound.has_fewer(Averaged::OfBlocks));
        let drifting = |pole: f64| {
            let mut observed = search.observed(candidate, started, &budget);
            let mut theta = observed[0].model.theta().to_vec();
            let shape = observed[0].model.shape();
            // The first state by itself, and slower than the record.
            theta[..shape.states].fill(0.0);
            theta[0] = pole;
            observed[0].model = StateSpace::new(shape, theta);
            let plan = hidden_plan(vec![observed], candidate.lags(), started.judged.history, &config);
            plan.expect("plans")
                .train(&finishing, &config, &budget)
                .expect("trains")
        };
        let count = |networks: &Networks<'_>| networks.joining(Averaged::All).len();
        assert_eq!(
            count(&drifting(1.003)) + 1,
            count(&sound),
            "what creeps away does not join"
        );
        let spoilt = networks(3.0);
        assert!(spoilt.has_fewer(Averaged::Sound));
        let of = |averaged| spoilt.assemble(&config, averaged).expect("assembles").0;
        let (all, without) = (of(Averaged::All), of(Averaged::Sound));
        assert_eq!(without.members() + 1, all.members());
        assert!(own_error(&without, &folds) < 0.8 * own_error(&all, &folds));
    }
}
