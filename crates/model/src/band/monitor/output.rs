//! The tests of one output.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::evidence::{EXPONENTS, Evidence, STAKES, more_than, small};
use super::health::TrendPoint;
use super::moments::{MOST_SAMPLES, Moments, Sample};
use super::ranks::Ranks;

/// Blocks that estimates of the present come from.
pub(super) const RECENT: usize = 10;
/// Blocks at the start that the present is compared with.
const REFERENCE: u64 = 20;
/// Blocks per look at the gain: the prediction must have moved.
const GAIN_BLOCKS: u64 = 4;
/// Points of the trend; more are joined by twos.
const MOST_POINTS: usize = 400;

/// Salts of the ranks, one per test.
const SALTS: [u64; 3] = [0x6c65_7665_6c00, 0x6761_696e_0000, 0x6e6f_6973_6500];

/// All that is remembered of one output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputMonitor {
    pub(super) all: Moments,
    pub(super) blocks: u64,
    pub(super) reference: Moments,
    recent: VecDeque<Moments>,
    block: Moments,
    for_gain: Moments,
    pub(super) coverage: Evidence,
    pub(super) level: Evidence,
    pub(super) gain: Evidence,
    pub(super) noise: Evidence,
    level_ranks: Ranks,
    gain_ranks: Ranks,
    noise_ranks: Ranks,
    trend: Vec<Point>,
    /// Blocks per point of the trend.
    stride: u64,
}

/// A few blocks together, and the evidence at their end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    /// Samples up to its end.
    end: u64,
    blocks: u64,
    moments: Moments,
    evidence: [f64; 4],
}

impl OutputMonitor {
    pub(super) fn new() -> Self {
        let [level, gain, noise] = SALTS;
        Self {
            all: Moments::default(),
            blocks: 0,
            reference: Moments::default(),
            recent: VecDeque::new(),
            block: Moments::default(),
            for_gain: Moments::default(),
            coverage: Evidence::new(STAKES.len()),
            level: Evidence::new(2 * EXPONENTS.len()),
            gain: Evidence::new(2 * EXPONENTS.len()),
            noise: Evidence::new(EXPONENTS.len()),
            level_ranks: Ranks::new(level),
            gain_ranks: Ranks::new(gain),
            noise_ranks: Ranks::new(noise),
            trend: Vec::new(),
            stride: 1,
        }
    }

    /// Takes a sample; true where it ends a block, and with it a step of the tests.
    pub(super) fn add(&mut self, sample: &Sample, block: u64, most_misses: f64) -> bool {
        self.all.add(sample);
        self.block.add(sample);
        if self.block.samples < block {
            return false;
        }
        let block = std::mem::take(&mut self.block);
        self.blocks += 1;
        self.coverage.step(more_than(block.miss_share(), most_misses));
        if let Some(rank) = self.level_ranks.rank(block.level_statistic()) {
            self.level.step(small(rank).chain(small(1.0 - rank)));
        }
        if let Some(rank) = self.noise_ranks.rank(block.noise_statistic()) {
            self.noise.step(small(rank));
        }
        self.for_gain.merge(&block);
        if self.blocks.is_multiple_of(GAIN_BLOCKS) {
            let moved = std::mem::take(&mut self.for_gain);
            if let Some(rank) = self.gain_ranks.rank(moved.gain_statistic()) {
                self.gain.step(small(rank).chain(small(1.0 - rank)));
            }
        }
        if self.blocks <= REFERENCE {
            self.reference.merge(&block);
        }
        self.recent.push_back(block);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        self.extend_trend(block);
        true
    }

    fn extend_trend(&mut self, block: Moments) {
        let evidence = [&self.coverage, &self.level, &self.gain, &self.noise].map(Evidence::now);
        match self.trend.last_mut().filter(|point| point.blocks < self.stride) {
            Some(point) => {
                point.end = self.all.samples;
                point.blocks += 1;
                point.moments.merge(&block);
                point.evidence = evidence;
            }
            None => self.trend.push(Point {
                end: self.all.samples,
                blocks: 1,
                moments: block,
                evidence,
            }),
        }
        if self.trend.len() > MOST_POINTS {
            let joined = self.trend.chunks(2).map(|pair| {
                let mut point = pair[0];
                if let Some(later) = pair.get(1) {
                    point.moments.merge(&later.moments);
                    point.blocks += later.blocks;
                    (point.end, point.evidence) = (later.end, later.evidence);
                }
                point
            });
            self.trend = joined.collect();
            self.stride *= 2;
        }
    }

    /// The last few blocks together; all samples before the first block is full.
    pub(super) fn recent(&self) -> Moments {
        let mut sum = Moments::default();
        self.recent.iter().for_each(|block| sum.merge(block));
        match self.recent.is_empty() {
            true => self.all,
            false => sum,
        }
    }

    /// The trend in the output's unit, whose standard deviation in training was `unit`.
    pub(super) fn trend(&self, unit: f64) -> Vec<TrendPoint> {
        let point = |point: &Point| TrendPoint {
            end: point.end,
            coverage: 1.0 - point.moments.miss_share(),
            level: point.moments.level() * unit,
            gain: point.moments.gain(),
            noise: point.moments.noise().sqrt() * unit,
            half_width: point.moments.half_width() * unit,
            evidence: point.evidence,
        };
        self.trend.iter().map(point).collect()
    }

    /// Whether its numbers are such as samples leave.
    pub(super) fn is_sound(&self) -> bool {
        let [level, gain, noise] = SALTS;
        let moments = [&self.all, &self.reference, &self.block, &self.for_gain];
        let counts = |counts: [u64; 2]| counts.iter().all(|count| *count <= MOST_SAMPLES);
        let trend = self.trend.iter().all(|point| {
            point.moments.is_sound()
                && counts([point.end, point.blocks])
                && point.evidence.iter().all(|e| e.is_finite())
        });
        moments.into_iter().chain(&self.recent).all(Moments::is_sound)
            && self.recent.len() <= RECENT
            && self.trend.len() <= MOST_POINTS
            && self.stride > 0
            && counts([self.blocks, self.stride])
            && trend
            && self.coverage.is_sound(STAKES.len())
            && self.level.is_sound(2 * EXPONENTS.len())
            && self.gain.is_sound(2 * EXPONENTS.len())
            && self.noise.is_sound(EXPONENTS.len())
            && self.level_ranks.is_sound(level)
            && self.gain_ranks.is_sound(gain)
            && self.noise_ranks.is_sound(noise)
    }
}
