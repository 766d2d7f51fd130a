//! Cuts of a record in two: a model is fitted to one side and judged on the other.

use std::ops::Range;

use intervalid_data::{Part, Segment};

use crate::folds::Fold;

/// A record in two: a model is fitted to one side and judged on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cut {
    /// The past of every segment is fitted, its first `share`, and the future judged.
    Forward { share: f64 },
    /// The same the other way round.
    Backward { share: f64 },
    /// All other experiments are fitted, and this one judged.
    Experiment(usize),
}

impl Cut {
    /// Samples of a segment that are fitted, as a range of samples since its start.
    fn fitted(self, segment: &Segment) -> Range<usize> {
        let len = segment.len();
        let place = |share: f64| (len as f64 * share).ceil() as usize;
        match self {
            Self::Forward { share } => 0..place(share),
            Self::Backward { share } => place(share)..len,
            Self::Experiment(experiment) if experiment == segment.experiment => 0..0,
            Self::Experiment(_) => 0..len,
        }
    }

    /// Whether sample `k` of a segment is fitted.
    pub(crate) fn fits(self, segment: &Segment, k: usize) -> bool {
        self.fitted(segment).contains(&k)
    }

    pub(crate) fn fold(self, all: &Part) -> Fold {
        let pieces = |of: &dyn Fn(Range<usize>, usize) -> [Range<usize>; 2]| {
            let segments = all.segments().iter().flat_map(|segment| {
                of(self.fitted(segment), segment.len()).map(|range| Segment {
                    start: segment.start + range.start,
                    end: segment.start + range.end,
                    ..*segment
                })
            });
            Part::from_segments(segments.collect())
        };
        Fold {
            rest: pieces(&|fitted, len| [fitted, len..len]),
            held_out: pieces(&|fitted, len| [0..fitted.start, fitted.end..len]),
        }
    }
}

/// The cut that candidates are judged by, beside the blocks.
pub(crate) const JUDGING: Cut = Cut::Forward { share: 0.6 };
/// More cuts that say how errors grow beyond the data. They are for the band of a finished model alone. Middle ones come first, since
/// experiments that are left out take the places of the last.
pub(crate) const CUTS: [Cut; 8] = [
    Cut::Forward { share: 0.5 },
    Cut::Backward { share: 0.5 },
    Cut::Forward { share: 0.7 },
    Cut::Forward { share: 0.9 },
    Cut::Forward { share: 0.4 },
    Cut::Forward { share: 0.8 },
    Cut::Backward { share: 0.4 },
    Cut::Backward { share: 0.6 },
];
/// Experiments that are left out, at most.
pub(crate) const MOST_EXPERIMENTS: usize = 4;

/// Samples of a stretch of `len` that lie before its forward cut.
pub(crate) fn before_cut(len: usize) -> usize {
    let whole = Segment {
        experiment: 0,
        start: 0,
        end: len,
    };
    JUDGING.fitted(&whole).end
}
