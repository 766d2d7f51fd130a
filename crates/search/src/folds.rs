//! Training and validation data divided: contiguous blocks, each held out once, and a forward cut.
//!
//! Every family of models is judged on these divisions. A block has data on both sides, which a plant that drifts makes easy; the
//! forward cut holds out the last part of every segment, as the future will be. A long record has no time for more than the cut,
//! and is long enough for it: there the part after the cut is judged in pieces.

use std::collections::BTreeMap;
use std::ops::Range;

use intervalid_data::{
    DataError, Dataset, InitialState, Lags, Normaliser, Part, Scaled, ScaledExperiment, Segment, Split, Window,
    free_run_windows,
};
use intervalid_model::{Band, BlockScores, DIVERGED, align, quantile};

use crate::cut::{CUTS, Cut, JUDGING, MOST_EXPERIMENTS};
use crate::doubt::backwards;
use crate::error::Result;
use crate::state_space::HISTORY;

/// Blocks of a record. Everything is scaled by the statistics of all of them together: what a held-out block adds to a
/// mean and a standard deviation tells a model nothing about its errors there.
pub(crate) struct Folds<'a> {
    pub(crate) dataset: &'a Dataset,
    /// Training and validation part.
    pub(crate) all: Part,
    /// Blocks, then the forward cut where there is one.
    pub(crate) folds: Vec<Fold>,
    /// How many of them are blocks; none of a long record.
    pub(crate) blocks: usize,
    /// Whether it begins once: all of it is one experiment, but for what is too short to be simulated.
    is_one_run: bool,
    pub(crate) normaliser: Normaliser,
    pub(crate) scaled: Scaled<f64>,
    /// The record backwards: inputs in another order.
    pub(crate) backwards: Scaled<f64>,
}

/// One block and the rest.
#[derive(Clone)]
pub(crate) struct Fold {
    pub(crate) held_out: Part,
    pub(crate) rest: Part,
}

pub(crate) const BLOCKS: usize = 5;

/// Records of more samples are long.
const LONG: usize = 12_000;
/// Errors that take longer to add up than this are those of an integrator.
const LONGEST_APPROACH: usize = 5000;
/// Channels that deviate by less than this share of their deviation over all blocks are still: what moves there may be noise.
const STILL: f64 = 0.1;
/// Without an experiment one part in so many of all samples is left at least.
const LEAST_REST: usize = 3;
/// Blocks shorter than this are no simulations.
pub(crate) const SHORTEST_BLOCK: usize = 20;

impl<'a> Folds<'a> {
    /// Blocks alone, each held out once.
    pub(crate) fn blocks(dataset: &'a Dataset, split: &Split) -> Result<Self> {
        let all = split.train.followed_by(&split.validation);
        let normaliser = Normaliser::fit(dataset, &all)?;
        let scaled = normaliser.scale::<f64>(dataset);
        let samples = all.samples();
        if samples < 2 * SHORTEST_BLOCK {
            let what = "a search of models";
            let needed = 2 * SHORTEST_BLOCK;
            let found = samples;
            return Err(DataError::TooShort { what, needed, found }.into());
        }
        let count = (samples / SHORTEST_BLOCK).clamp(2, BLOCKS);
        let folds: Vec<Fold> = (0..count)
            .map(|fold| held_out(&all, samples * fold / count..samples * (fold + 1) / count))
            .collect();
        Ok(Self {
            dataset,
            blocks: folds.len(),
            is_one_run: lengths(&all).len() == 1,
            folds,
            normaliser,
            backwards: backwards(&scaled, &all),
            scaled,
            all,
        })
    }

    /// What a search judges on: blocks and a forward cut, of a long record the cut alone.
    pub(crate) fn new(dataset: &'a Dataset, split: &Split) -> Result<Self> {
        let mut folds = Self::blocks(dataset, split)?;
        if folds.all.samples() > LONG {
            folds.folds.clear();
            folds.blocks = 0;
        }
        folds.folds.push(JUDGING.fold(&folds.all));
        Ok(folds)
    }

    /// The same in other units: those that a model has which was fitted before.
    pub(crate) fn in_units(self, normaliser: Normaliser) -> Self {
        let scaled = normaliser.scale(self.dataset);
        Self {
            backwards: backwards(&scaled, &self.all),
            scaled,
            normaliser,
            ..self
        }
    }

    /// The same blocks, a forward cut and a backward one, or the last experiment left out: few enough for models whose training takes long.
    pub(crate) fn with_two_cuts(mut self) -> Self {
        let other = match self.left_out().last() {
            Some(&last) => Cut::Experiment(last),
            None => Cut::Backward { share: 0.5 },
        };
        self.folds.extend([JUDGING, other].map(|cut| cut.fold(&self.all)));
        self
    }

    /// Cuts that size the band of a finished model; none of a long record, whose forward cut says enough. Of several experiments some are
    /// left out as a whole: the next one is as strange to a model as they were.
    pub(crate) fn cuts(&self) -> Vec<Cut> {
        if self.is_long() {
            return Vec::new();
        }
        let experiments = self.left_out();
        let count = experiments.len().min(MOST_EXPERIMENTS);
        let spread = |index: usize| Cut::Experiment(experiments[index * experiments.len() / count]);
        (0..count).map(spread).chain(CUTS).take(CUTS.len()).collect()
    }

    /// Experiments that can be left out as a whole: not so long that little is left to be fitted.
    fn left_out(&self) -> Vec<usize> {
        let samples = self.all.samples();
        let enough = lengths(&self.all)
            .into_iter()
            .filter(|(_, own)| samples - own >= samples / LEAST_REST);
        enough.map(|(experiment, _)| experiment).collect()
    }

    /// The first divisions only.
    pub(crate) fn only(&self, count: usize) -> Self {
        let mut few = self.with_folds(self.folds.clone());
        few.folds.truncate(count);
        few
    }

    /// The same divisions and [`Folds::cuts`].
    pub(crate) fn with_cuts(&self) -> Self {
        let mut folds = self.folds.clone();
        folds.extend(self.cuts().into_iter().map(|cut| cut.fold(&self.all)));
        self.with_folds(folds)
    }

    /// The same record with other divisions.
    fn with_folds(&self, folds: Vec<Fold>) -> Self {
        Self {
            folds,
            all: self.all.clone(),
            normaliser: self.normaliser.clone(),
            scaled: self.scaled.clone(),
            backwards: self.backwards.clone(),
            ..*self
        }
    }

    /// The beginning of every segment, so many samples together; of a short record everything.
    pub(crate) fn shortened(&self, samples: usize) -> Part {
        let share = (samples as f64 / self.all.samples().max(1) as f64).min(1.0);
        let shorten = |segment: &Segment| Segment {
            end: segment.start + (segment.len() as f64 * share).round() as usize,
            ..*segment
        };
        Part::from_segments(self.all.segments().iter().map(shorten).collect())
    }

    /// The same record as if it ended after so many samples, in the same units; of a short record itself.
    pub(crate) fn beginning(&self, samples: usize) -> Self {
        let all = self.shortened(samples);
        Self {
            dataset: self.dataset,
            folds: vec![JUDGING.fold(&all)],
            blocks: 0,
            is_one_run: lengths(&all).len() == 1,
            all,
            normaliser: self.normaliser.clone(),
            scaled: self.scaled.clone(),
            backwards: self.backwards.clone(),
        }
    }

    /// Whether there is time for the forward cut only.
    pub(crate) fn is_long(&self) -> bool {
        self.blocks == 0
    }

    /// What was found on what a division holds out. A cut beside the judging ones may hold out a stretch that is too short for a run of the
    /// model, such as a short experiment, and says nothing then.
    pub(crate) fn or_nothing<T: Default>(&self, fold: usize, found: Result<T>) -> Result<T> {
        match found {
            Err(error) if fold > self.blocks && error.is_too_short() => Ok(T::default()),
            found => found,
        }
    }

    /// The division that holds out the last part of every segment.
    pub(crate) fn forward_fold(&self) -> Option<usize> {
        (self.folds.len() > self.blocks).then_some(self.blocks)
    }

    /// Samples that a model without this fold's held-out ones may choose epochs on: the next block, as far as the fold knows it. Of two
    /// blocks that would be all that is left to learn from, so that it is the end of it, as before a cut.
    /// Those of the fit on everything, `fold` being none, are the last block.
    pub(crate) fn choosing(&self, fold: Option<usize>) -> Part {
        let Some(fold) = fold else {
            let samples = self.all.samples();
            return held_out(&self.all, samples - samples / BLOCKS..samples).held_out;
        };
        let rest = &self.folds[fold].rest;
        if fold < self.blocks && self.blocks > 2 {
            return self.folds[(fold + 1) % self.blocks].held_out.clone();
        }
        let longest = rest.segments().iter().map(|segment| segment.len()).max().unwrap_or(0);
        if longest / 4 < SHORTEST_BLOCK / 2 {
            // A few samples of each experiment are no simulations; the last ones as a whole are.
            let samples = rest.samples();
            return held_out(rest, samples - samples / 4..samples).held_out;
        }
        let last = |segment: &Segment| Segment {
            start: segment.end - segment.len() / 4,
            ..*segment
        };
        Part::from_segments(rest.segments().iter().map(last).collect())
    }

    /// Whether a model without this fold's held-out samples has seen every channel move; none: of everything, which has. Where one block
    /// holds the only step of an input, a model without it knows nothing of that input: it tells how far off predictions can be, but
    /// would spoil a mean.
    pub(crate) fn has_seen_all_move(&self, fold: Option<usize>) -> bool {
        let Some(fold) = fold else { return true };
        let rest = self.folds[fold].rest.segments();
        let moves = |column: fn(&ScaledExperiment<f64>, usize) -> &[f64], channel: usize| {
            let of = |segment: &Segment| {
                let experiment = &self.scaled.experiments()[segment.experiment];
                column(experiment, channel)[segment.start..segment.end].to_vec()
            };
            let values: Vec<f64> = rest.iter().flat_map(of).collect();
            let count = values.len().max(1) as f64;
            let mean = values.iter().sum::<f64>() / count;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            variance.sqrt() >= STILL
        };
        let (inputs, outputs) = (self.dataset.inputs().len(), self.dataset.outputs().len());
        (0..inputs).all(|channel| moves(ScaledExperiment::input, channel))
            && (0..outputs).all(|channel| moves(ScaledExperiment::output, channel))
    }

    /// Where free runs over a held-out block start, and the block itself.
    ///
    /// A run starts long before its block: after the start it uses inputs alone, so it learns nothing there, and its
    /// errors have had as long to add up as they will have on new data.
    pub(crate) fn approaches(&self, fold: usize) -> Vec<(Segment, Segment)> {
        let held_out = self.folds[fold].held_out.segments().iter();
        held_out
            .map(|block| {
                let around = |segment: &&Segment| {
                    segment.experiment == block.experiment && segment.start <= block.start && block.end <= segment.end
                };
                let first = self
                    .all
                    .segments()
                    .iter()
                    .find(around)
                    .map_or(block.start, |segment| segment.start);
                let start = first.max(block.start.saturating_sub(LONGEST_APPROACH));
                (Segment { start, ..*block }, *block)
            })
            .collect()
    }

    /// Where models that start from history run over what a fold holds out, a warm-up earlier: a long record's one part in pieces, since how
    /// well a state is found depends on where a run starts.
    pub(crate) fn historic_runs(&self, fold: usize, warmup: usize) -> Part {
        let held_out = &self.folds[fold].held_out;
        if !self.is_long() {
            return begun_before(held_out, warmup);
        }
        let piece = |segment: &Segment, index: usize| {
            let range = piece(segment.start..segment.end, index);
            Segment {
                // The sample that a run starts from is not scored: it is the last one of the piece before.
                start: range.start - usize::from(index > 0),
                end: range.end,
                ..*segment
            }
        };
        let pieces = held_out
            .segments()
            .iter()
            .flat_map(|segment| (0..BLOCKS).map(move |index| piece(segment, index)));
        begun_before(&Part::from_segments(pieces.collect()), warmup)
    }

    /// Free runs over a held-out block, each with the first sample that counts.
    pub(crate) fn test_runs(&self, fold: usize, lags: Lags, initial: InitialState) -> Result<Vec<(Window, usize)>> {
        let mut windows = Vec::new();
        for (run, block) in self.approaches(fold) {
            // Pieces too short to simulate are left out, unless nothing else is there.
            if let Ok(found) = free_run_windows(self.dataset, &Part::from_segments(vec![run]), lags, initial) {
                windows.extend(
                    found
                        .into_iter()
                        .map(|window| (window, self.first_counted(&run, &block))),
                );
            }
        }
        if windows.is_empty() {
            free_run_windows(self.dataset, &self.folds[fold].held_out, lags, initial)?;
        }
        Ok(windows)
    }

    /// What the bands of runs towards a held-out block are worth on the block itself.
    ///
    /// Of free runs over `part` those that have diverged count to their end, as errors of [`DIVERGED`] standard deviations from a band of
    /// the width it had: what was lost would else make a band look better than it is. Without a part nobody knows where they would have ended.
    pub(crate) fn scores(
        &self,
        fold: usize,
        bands: &[Band],
        part: Option<&Part>,
        output: usize,
    ) -> Result<BlockScores> {
        let approaches = self.approaches(fold);
        let mut scores = BlockScores::default();
        for (run, band) in align(self.dataset, bands, output)?.iter().zip(bands) {
            let (end, first) = (band.first + band.len(), band.first + band.len() - run.target.len());
            let is_of = |block: &&(Segment, Segment)| {
                block.1.experiment == band.experiment && block.0.start < band.first && band.first < block.1.end
            };
            let block = approaches
                .iter()
                .find(is_of)
                .map_or(first, |(run, block)| self.first_counted(run, block));
            for at in block.saturating_sub(first)..run.target.len() {
                scores.error.push(run.target[at] - run.centre[at]);
                scores.below.push(run.centre[at] - run.lower[at]);
                scores.above.push(run.upper[at] - run.centre[at]);
            }
            if let (Some(part), Some(_)) = (part, band.diverged_at) {
                let lost = end_of_run(band, part).saturating_sub(end.max(block).max(band.first + band.warmup));
                let middle =
                    |low: &[f64], high: &[f64]| quantile(low.iter().zip(high).map(|(a, b)| b - a).collect(), 0.5);
                let error = self.normaliser.output_width_to_physical(output, DIVERGED);
                let below = middle(&band.lower[output], &band.centre[output]);
                let above = middle(&band.centre[output], &band.upper[output]);
                // Nobody knows on which side: errors on one alone would make nothing of the other side of the band.
                scores
                    .error
                    .extend((0..lost).map(|at| if at % 2 == 0 { error } else { -error }));
                scores.below.extend(std::iter::repeat_n(below, lost));
                scores.above.extend(std::iter::repeat_n(above, lost));
            }
        }
        Ok(scores)
    }

    /// The first sample of a block that counts, as far as its model scores it. In a record of one run, which begins once, a search counts none
    /// of the samples that a model with hidden states might need as its history. Of several experiments nearly every block begins some, as
    /// the next recording will: how a model comes out of its start is part of what it is worth.
    fn first_counted(&self, run: &Segment, block: &Segment) -> usize {
        let begins = run.start == block.start && self.forward_fold().is_some();
        match begins && self.is_one_run {
            true => block.start + HISTORY.min(block.len() / 2),
            false => block.start,
        }
    }

    /// Windows of about `length` samples over a part, side by side; where they are more than `most` samples, evenly spaced
    /// ones, from the `offset`-th on.
    pub(crate) fn windows(
        &self,
        part: &Part,
        (lags, initial): (Lags, InitialState),
        length: usize,
        most: usize,
        offset: usize,
    ) -> Vec<Window> {
        let mut windows = Vec::new();
        for segment in part.segments() {
            // The outputs that start a run lie in the segment as well: the block before it may be held out.
            let start = (segment.start + initial.outputs_before(lags)).max(initial.first_start(lags));
            let samples = segment.end.saturating_sub(start);
            let shortest = initial.unscored() + 2 * lags.ny + 4;
            if samples < shortest {
                continue;
            }
            let count = ((samples + length / 2) / length.max(1)).clamp(1, (samples / shortest).max(1));
            for index in 0..count {
                let (from, to) = (samples * index / count, samples * (index + 1) / count);
                windows.push(Window {
                    experiment: segment.experiment,
                    start: start + from,
                    len: to - from,
                });
            }
        }
        let total: usize = windows.iter().map(|window| window.len).sum();
        let every = total.div_ceil(most.max(1)).max(1);
        windows.into_iter().skip(offset % every).step_by(every).collect()
    }
}

/// Samples of the experiments that are long enough to be simulated: what a gap near the end of a record cuts off is none. Where all are short, all are.
fn lengths(all: &Part) -> BTreeMap<usize, usize> {
    let mut samples = BTreeMap::new();
    for segment in all.segments() {
        *samples.entry(segment.experiment).or_insert(0) += segment.len();
    }
    if samples.values().any(|samples| *samples >= SHORTEST_BLOCK) {
        samples.retain(|_, samples| *samples >= SHORTEST_BLOCK);
    }
    samples
}

/// Runs that begin so many samples before those of a part, where the record has them.
pub(crate) fn begun_before(part: &Part, samples: usize) -> Part {
    let earlier = |run: &Segment| Segment {
        start: run.start.saturating_sub(samples),
        ..*run
    };
    Part::from_segments(part.segments().iter().map(earlier).collect())
}

/// Where the run over `part` that a band is of would have ended. Runs of a part may begin within the one before them, to warm up.
fn end_of_run(band: &Band, part: &Part) -> usize {
    let is_of = |run: &&Segment| run.experiment == band.experiment && run.start < band.first && band.first <= run.end;
    part.segments().iter().rfind(is_of).map_or(0, |run| run.end)
}

/// One of [`BLOCKS`] pieces of a stretch.
pub(crate) fn piece(range: Range<usize>, index: usize) -> Range<usize> {
    let place = |index: usize| range.start + range.len() * index / BLOCKS;
    place(index)..place(index + 1)
}

/// The samples at these places of all segments together, and the rest.
fn held_out(all: &Part, range: std::ops::Range<usize>) -> Fold {
    let (mut held_out, mut rest) = (Vec::new(), Vec::new());
    let mut before = 0;
    for segment in all.segments() {
        // The block's share of this segment, which may be all or nothing of it.
        let place = |at: usize| segment.start + at.clamp(before, before + segment.len()) - before;
        let (start, end) = (place(range.start), place(range.end));
        let piece = |start, end| Segment { start, end, ..*segment };
        held_out.push(piece(start, end));
        rest.extend([piece(segment.start, start), piece(end, segment.end)]);
        before += segment.len();
    }
    Fold {
        held_out: Part::from_segments(held_out),
        rest: Part::from_segments(rest),
    }
}

#[cfg(test)]
mod tests;
