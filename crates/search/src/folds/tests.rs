use intervalid_data::{Channel, Experiment, SplitFractions};

use super::*;

/// Experiments of these lengths.
fn dataset_of(lengths: &[usize]) -> Dataset {
    let column = |len: usize| (0..len).map(|k| (k as f64 * 0.7).sin()).collect::<Vec<_>>();
    let experiment = |&len: &usize| Experiment::new(format!("e{len}"), vec![column(len)], vec![column(len)]);
    let channels = (vec![Channel::new("u")], vec![Channel::new("y")]);
    let experiments = lengths.iter().map(experiment).collect();
    Dataset::new("d", channels.0, channels.1, None, experiments).expect("valid")
}

#[test]
fn several_experiments_are_left_out_one_by_one() {
    let left_out = |lengths: &[usize]| {
        let dataset = dataset_of(lengths);
        let split = Split::new(&dataset, SplitFractions::new(0.6, 0.2, 0.2).expect("valid")).expect("splits");
        let folds = Folds::new(&dataset, &split).expect("cuts");
        assert_eq!(folds.cuts().len(), CUTS.len());
        for (cut, fold) in folds.cuts().into_iter().zip(&folds.with_cuts().folds[6..]) {
            assert_eq!(fold.held_out.samples() + fold.rest.samples(), folds.all.samples());
            for (part, is_fitted) in [(&fold.rest, true), (&fold.held_out, false)] {
                for piece in part.segments() {
                    let whole = folds.all.segments().iter().find(|s| s.experiment == piece.experiment);
                    let whole = whole.expect("a piece of a segment");
                    let mut samples = piece.start..piece.end;
                    assert!(samples.all(|k| cut.fits(whole, k - whole.start) == is_fitted));
                }
            }
        }
        let of = |cut| if let Cut::Experiment(of) = cut { Some(of) } else { None };
        folds.cuts().into_iter().filter_map(of).collect::<Vec<usize>>()
    };
    assert!(left_out(&[200]).is_empty());
    assert_eq!(left_out(&[130, 70]), [0, 1]);
    assert_eq!(left_out(&[60; 8]), [0, 2, 4, 6]);
}

#[test]
fn other_units_are_those_of_the_record_backwards_too() {
    let dataset = dataset_of(&[200]);
    let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
    let folds = Folds::new(&dataset, &split).expect("cuts");
    let mut units = folds.normaliser.clone();
    for scale in units.inputs.iter_mut().chain(&mut units.outputs) {
        (scale.mean, scale.std) = (scale.mean + 3.0, 2.0 * scale.std);
    }
    let folds = folds.in_units(units);
    let (forwards, backwards) = (&folds.scaled.experiments()[0], &folds.backwards.experiments()[0]);
    let samples = folds.all.samples();
    for k in 0..samples {
        let (here, there) = (samples - 1 - k, k);
        assert!((forwards.input(0)[here] - backwards.input(0)[there]).abs() < 1e-12);
        assert!((forwards.output(0)[here] - backwards.output(0)[there]).abs() < 1e-12);
    }
}

#[test]
fn what_a_run_loses_when_it_diverges_counts() {
    let dataset = dataset_of(&[250]);
    let split = Split::new(&dataset, SplitFractions::default()).expect("splits");
    let folds = Folds::new(&dataset, &split).expect("cuts");
    let (run, block) = folds.approaches(2)[0];
    let part = Part::from_segments(vec![run]);
    let until = |end: usize| {
        let samples = || run.start + 1..end.min(block.end);
        let of = |offset: f64| vec![samples().map(|k| (k as f64 * 0.7).sin() + offset).collect::<Vec<f64>>()];
        let band = Band {
            experiment: 0,
            first: run.start + 1,
            warmup: 0,
            lower: of(-0.25),
            centre: of(0.0),
            upper: of(0.5),
            diverged_at: (end < block.end).then(|| samples().len()),
        };
        folds.scores(2, &[band], Some(&part), 0).expect("belongs")
    };
    let lost = |scores: &BlockScores| scores.error.iter().filter(|error| error.abs() > 100.0).count();
    let whole = until(block.end);
    assert_eq!((whole.error.len(), lost(&whole)), (block.len(), 0));
    let half = until(block.start + 10);
    assert_eq!((half.error.len(), lost(&half)), (block.len(), block.len() - 10));
    let near = |found: &[f64], expected: f64| found.iter().all(|half| (half - expected).abs() < 1e-9);
    assert!(half.below.len() == block.len() && near(&half.below, 0.25) && near(&half.above, 0.5));
    // On the way to its block.
    let before = until(block.start - 10);
    assert_eq!((before.error.len(), lost(&before)), (block.len(), block.len()));
    // One block of five is lost: the band grows on both sides.
    let mut wave = whole.clone();
    for (k, error) in wave.error.iter_mut().enumerate() {
        *error = (k as f64 * 2.3).sin();
    }
    let blocks = vec![vec![wave.clone(), wave.clone(), wave.clone(), wave.clone(), before]];
    let target = intervalid_model::CoverageTarget::of_each(0.9);
    let found = intervalid_model::calibrate((&blocks, &[]), &[0.0], target, 1).outputs[0];
    assert!(found.lower > 1.0 && found.upper > 1.0, "{found:?}");
}

/// Or a run over the whole could not stand in for its pieces.
#[test]
fn pieces_of_a_long_record_have_the_samples_of_the_whole() {
    let dataset = dataset_of(&[20_000]);
    let split = Split::new(&dataset, SplitFractions::new(0.6, 0.2, 0.2).expect("valid")).expect("splits");
    let folds = Folds::new(&dataset, &split).expect("cuts");
    assert!(folds.is_long());
    let lags = Lags { nx: 0, nd: 0, ny: 1 };
    for initial in [InitialState::History(20), InitialState::Warmup(20)] {
        let warmup = initial.unscored() - initial.looks_back();
        let scored = |part: &Part| {
            let windows = free_run_windows(&dataset, part, lags, initial).expect("long enough");
            windows
                .iter()
                .flat_map(|window| window.scored(initial))
                .collect::<Vec<usize>>()
        };
        let whole = begun_before(&folds.folds[0].held_out, warmup);
        let (pieces, whole) = (scored(&folds.historic_runs(0, warmup)), scored(&whole));
        assert!(pieces == whole, "{} and {}", pieces.len(), whole.len());
    }
}

#[test]
fn of_several_experiments_the_beginnings_count() {
    let counted = |lengths: &[usize]| {
        let dataset = dataset_of(lengths);
        let split = Split::new(&dataset, SplitFractions::new(0.6, 0.2, 0.2).expect("valid")).expect("splits");
        let folds = Folds::new(&dataset, &split).expect("cuts");
        let lags = Lags { nx: 1, nd: 0, ny: 2 };
        let (mut of_runs, mut of_bands) = (0, 0);
        for fold in 0..folds.blocks {
            let runs = folds
                .test_runs(fold, lags, InitialState::Measured)
                .expect("long enough");
            of_runs += runs
                .iter()
                .map(|(window, first)| window.scored(InitialState::Measured).filter(|k| k >= first).count())
                .sum::<usize>();
            let band = |(window, _): &(Window, usize)| Band {
                experiment: window.experiment,
                first: window.start + 1,
                warmup: 0,
                lower: vec![vec![-1.0; window.len - 1]],
                centre: vec![vec![0.0; window.len - 1]],
                upper: vec![vec![1.0; window.len - 1]],
                diverged_at: None,
            };
            let bands: Vec<Band> = runs.iter().map(band).collect();
            of_bands += folds.scores(fold, &bands, None, 0).expect("belongs").error.len();
        }
        assert_eq!(of_runs, of_bands);
        (folds.all.samples(), of_runs)
    };
    // All but the two outputs that each run starts from; an experiment may be cut by a border of blocks, and then goes on.
    let (all, found) = counted(&[50; 14]);
    assert_eq!(all - found, 2 * 14);
    // A record of one run as ever: without a tenth of it, half of its first block.
    let (all, found) = counted(&[700]);
    assert_eq!(all - found, all / 10);
}

#[test]
fn experiments_are_left_out_where_enough_remains() {
    let left_out = |lengths: &[usize]| {
        let dataset = dataset_of(lengths);
        let split = Split::new(&dataset, SplitFractions::new(0.6, 0.2, 0.2).expect("valid")).expect("splits");
        Folds::new(&dataset, &split).expect("cuts").left_out()
    };
    assert_eq!(left_out(&[400, 400, 400]), [0, 1, 2]);
    // Without the long one little is left; the short one can be done without.
    assert_eq!(left_out(&[2000, 40]), [1]);
    // What a gap near an end cuts off is no simulation.
    assert_eq!(left_out(&[4, 1400, 6]), Vec::<usize>::new());
    // Where all are short, all are left out in turn.
    assert_eq!(left_out(&[15; 8]).len(), 8);
}

#[test]
fn short_records_choose_epochs_on_a_part_of_what_they_know() {
    for samples in [40, 59, 60, 100] {
        let dataset = dataset_of(&[samples]);
        let fractions = SplitFractions::new(0.8, 0.2, 0.0).expect("valid");
        let split = Split::new(&dataset, fractions).expect("splits");
        let folds = Folds::blocks(&dataset, &split).expect("cuts").with_two_cuts();
        for (number, fold) in folds.folds.iter().enumerate() {
            let chooses = folds.choosing(Some(number));
            let learns = crate::cross_calibration::without(&fold.rest, &chooses);
            assert_eq!(learns.samples() + chooses.samples(), fold.rest.samples());
            assert!(learns.samples() >= fold.rest.samples() / 2, "{number} of {samples}");
        }
    }
}

#[test]
fn blocks_partition_all_experiments_and_windows_stay_inside() {
    let dataset = dataset_of(&[130, 70]);
    let fractions = SplitFractions::new(0.6, 0.2, 0.2).expect("valid");
    let split = Split::new(&dataset, fractions).expect("splits");
    let folds = Folds::new(&dataset, &split).expect("cuts");
    assert_eq!((folds.folds.len(), folds.blocks, folds.forward_fold()), (6, 5, Some(5)));
    let forward = &folds.folds[5];
    assert_eq!(forward.held_out.samples() + forward.rest.samples(), folds.all.samples());
    let is_later = |(after, before): (&Segment, &Segment)| after.start == before.end;
    assert!(
        forward
            .held_out
            .segments()
            .iter()
            .zip(forward.rest.segments())
            .all(is_later)
    );
    for fold in 0..6 {
        let chooses = folds.choosing(Some(fold));
        let known = crate::cross_calibration::without(&chooses, &folds.folds[fold].held_out);
        assert_eq!(known.samples(), chooses.samples(), "{fold} chooses on what it knows");
    }
    let mut seen = vec![0; 200];
    for fold in &folds.folds[..5] {
        assert_eq!(fold.held_out.samples() + fold.rest.samples(), folds.all.samples());
        for segment in fold.held_out.segments() {
            (segment.start..segment.end).for_each(|k| seen[segment.experiment * 130 + k] += 1);
        }
        let lags = Lags { nx: 1, nd: 0, ny: 2 };
        for window in folds.windows(&fold.rest, (lags, InitialState::Measured), 20, usize::MAX, 0) {
            let inside = fold.rest.segments().iter().any(|segment| {
                segment.experiment == window.experiment
                    && segment.start < window.start
                    && window.start + window.len <= segment.end
            });
            assert!(inside, "{window:?}");
        }
    }
    let expected: usize = folds.all.samples();
    assert_eq!((seen.iter().sum::<usize>(), seen.iter().max()), (expected, Some(&1)));
}
