//! Responses, curves and residuals of systems that are known.

use intervalid_analysis::{
    FrequencyResponse, Linearisation, PointRequest, Responses, StaticCurve, Views, fits_ahead, residuals,
};
use intervalid_data::{Channel, Dataset, Experiment, Lags, LinearSystem, Part, WienerSystem};
use intervalid_model::{Band, Model, ModelKind, OutputRange};

use crate::models::{config, every_kind, first_order, fitted, known_linear, linear};

fn complex((re, im): (f64, f64)) -> (f64, f64) {
    (re.hypot(im), im.atan2(re).to_degrees())
}

/// (z + 0.5) / (z² - 1.5 z + 0.7) on the unit circle: magnitude and phase.
fn closed_form(angle: f64) -> (f64, f64) {
    let (upper, lower) = (
        (angle.cos() + 0.5, angle.sin()),
        (
            (2.0 * angle).cos() - 1.5 * angle.cos() + 0.7,
            (2.0 * angle).sin() - 1.5 * angle.sin(),
        ),
    );
    let (a, b) = (complex(upper), complex(lower));
    (a.0 / b.0, a.1 - b.1)
}

#[test]
fn bode_and_step_of_a_known_system_are_its_closed_form() {
    let model = known_linear(&[1.0], Some(0.2));
    let linear = Linearisation::new(&model, &PointRequest::default()).unwrap();
    let found = FrequencyResponse::new(&linear, None).unwrap();
    let channel = &found.channels[0];
    for ((hertz, magnitude), phase) in found.frequency.iter().zip(&channel.magnitude).zip(&channel.phase) {
        let (expected, angle) = closed_form(std::f64::consts::TAU * hertz * 0.2);
        assert!(
            (magnitude - expected).abs() < 1e-9 * expected,
            "{hertz}: {magnitude} {expected}"
        );
        let turns = (phase - angle) / 360.0;
        assert!((turns - turns.round()).abs() < 1e-9, "{hertz}: {phase} {angle}");
    }
    assert_eq!((channel.band.is_none(), found.frequency_unit), (true, "Hz"));
    assert!((found.frequency.last().unwrap() - 2.5).abs() < 1e-9);
    let jumps = channel.phase.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    assert!(jumps.fold(0.0, f64::max) < 90.0, "unwrapped");

    let responses = Responses::new(&model, &linear, 0, &[10.0, -5.0]).unwrap();
    for response in &responses.steps {
        let output = &response.outputs[0];
        let (mut y, mut last) = (vec![0.0; output.y.len()], 0.0);
        for k in 0..y.len() {
            let before = |lag: usize| k.checked_sub(lag).map_or(0.0, |at| y[at]);
            let input = |lag: usize| if k >= lag { response.amplitude } else { 0.0 };
            last = 1.5 * before(1) - 0.7 * before(2) + input(1) + 0.5 * input(2);
            y[k] = last;
        }
        for (found, expected) in output.y.iter().zip(&y) {
            assert!((found - output.rest - expected).abs() < 1e-6, "{found} {expected}");
        }
        let figures = output.figures.unwrap();
        assert!((figures.gain - last / response.amplitude).abs() < 1e-9 && (figures.gain - 7.5).abs() < 0.05);
        // Damping 0.43 at the poles: the first peak is some 20 % too high.
        let most = y.iter().map(|y| y / last).fold(0.0, f64::max);
        assert!((figures.overshoot - 100.0 * (most - 1.0)).abs() < 1e-6 && figures.overshoot > 10.0);
        assert!(figures.rise_time.unwrap() < figures.settling_time.unwrap());
        assert!(
            output
                .lower
                .iter()
                .zip(&output.upper)
                .all(|(lower, upper)| (upper - lower - 4.0).abs() < 1e-9)
        );
    }
    // A pulse is the difference of two steps one sample apart.
    let (pulse, step) = (&responses.pulses[0].outputs[0], &responses.steps[0].outputs[0]);
    for k in 1..step.y.len() {
        assert!((pulse.y[k] - pulse.rest - (step.y[k] - step.y[k - 1])).abs() < 1e-6);
    }
    assert!(Responses::new(&model, &linear, 0, &[0.0]).is_err() && Responses::new(&model, &linear, 7, &[]).is_err());
}

#[test]
fn steps_of_slow_models_come_to_rest_or_have_no_figures() {
    let views = |time_constant: f64| {
        let model = first_order(2.0, time_constant);
        let linear = Linearisation::new(&model, &PointRequest::default()).unwrap();
        Views::new(&model, linear, None, &[1.0], &[[-1.0, 1.0]]).unwrap()
    };
    let is_told = |views: &Views| views.notes.iter().any(|note| note.contains("come to rest"));
    for time_constant in [20.0, 1000.0, 4500.0] {
        let found = views(time_constant);
        let (responses, answer) = (&found.responses[0], &found.responses[0].steps[0].outputs[0]);
        let figures = answer.figures.unwrap();
        assert!((figures.gain - 2.0).abs() < 0.04, "{time_constant}: {}", figures.gain);
        assert!(figures.overshoot < 0.1 && !is_told(&found));
        // From 10 to 90 % takes ln 9 time constants.
        let rise = figures.rise_time.unwrap() / (time_constant * 9.0_f64.ln());
        assert!((0.9..1.05).contains(&rise), "{time_constant}: {rise}");
        // Thinned, every value stands at its time.
        assert!(answer.y.len() <= 2000 && answer.y.len() == responses.time.len());
        for (time, y) in responses.time.iter().zip(&answer.y) {
            let truth = 2.0 * (1.0 - (-time / time_constant).exp());
            assert!(
                (y - answer.rest - truth).abs() < 1e-3,
                "{time_constant}, {time}: {y} {truth}"
            );
        }
    }
    let slow = views(10_000.0);
    assert_eq!(slow.responses[0].steps[0].outputs[0].figures, None);
    assert!(is_told(&slow), "{:?}", slow.notes);
}

/// Steps of every input by one, and what is said of all.
fn steps_by_one(model: &Model) -> Views {
    let linear = Linearisation::new(model, &PointRequest::default()).unwrap();
    let ranges = vec![[-1.0, 1.0]; linear.inputs.len()];
    Views::new(model, linear, None, &[1.0], &ranges).unwrap()
}

#[test]
fn poles_in_one_place_take_longer_to_come_to_rest_than_one() {
    // Six time constants after the step, four lags in a row are still 15 % from their rest.
    let pole = (-1.0_f64 / 20.0).exp();
    let own = [4.0 * pole, -6.0 * pole.powi(2), 4.0 * pole.powi(3), -pole.powi(4)];
    let coefficients = [own.as_slice(), &[2.0 * (1.0 - pole).powi(4)]].concat();
    let found = steps_by_one(&linear(&["u"], Lags { nx: 0, nd: 1, ny: 4 }, coefficients));
    let figures = found.responses[0].steps[0].outputs[0].figures.unwrap();
    assert!((figures.gain - 2.0).abs() < 0.04, "{}", figures.gain);
    assert!(
        !found.notes.iter().any(|note| note.contains("come to rest")),
        "{:?}",
        found.notes
    );
}

#[test]
fn a_slow_answer_leaves_the_figures_of_a_fast_one() {
    // ŷ is a lag of 10 000 samples behind `drift`, and one of 10 samples behind `valve`.
    let [slow, fast] = [10_000.0, 10.0].map(|constant: f64| (-1.0 / constant).exp());
    let coefficients = vec![
        slow + fast,
        -slow * fast,
        1.0 - slow,
        3.0 * (1.0 - fast),
        -(1.0 - slow) * fast,
        -3.0 * (1.0 - fast) * slow,
    ];
    let found = steps_by_one(&linear(&["drift", "valve"], Lags { nx: 1, nd: 1, ny: 2 }, coefficients));
    let figures = |input: usize| found.responses[input].steps[0].outputs[0].figures;
    assert_eq!(figures(0), None);
    let fast = figures(1).unwrap();
    assert!((fast.gain - 3.0).abs() < 0.06, "{}", fast.gain);
    assert!((fast.settling_time.unwrap() - 40.0).abs() < 3.0, "{fast:?}");
    let told: Vec<&String> = found
        .notes
        .iter()
        .filter(|note| note.contains("come to rest"))
        .collect();
    assert!(told.len() == 1 && told[0].ends_with(": drift to y."), "{told:?}");
}

#[test]
fn an_answer_that_waits_for_its_input_has_not_come_to_rest() {
    // No poles at all: ŷ(k) = 2 u(k-250).
    let found = steps_by_one(&linear(&["u"], Lags { nx: 0, nd: 250, ny: 1 }, vec![0.0, 2.0]));
    let figures = found.responses[0].steps[0].outputs[0].figures.unwrap();
    assert!((figures.gain - 2.0).abs() < 1e-6, "{}", figures.gain);
    assert_eq!(figures.settling_time, Some(250.0));
}

#[test]
fn members_give_a_band_around_the_response() {
    let model = known_linear(&[1.0, 0.8, 1.5], Some(0.2));
    let linear = Linearisation::new(&model, &PointRequest::default()).unwrap();
    let found = FrequencyResponse::new(&linear, None).unwrap();
    let channel = &found.channels[0];
    let band = channel.band.as_ref().unwrap();
    for (place, magnitude) in channel.magnitude.iter().enumerate() {
        let [least, most] = [band.magnitude[0][place], band.magnitude[1][place]];
        assert!(
            (least - magnitude * 0.8 / 1.1).abs() < 1e-6 * magnitude,
            "{least} {magnitude}"
        );
        assert!((most - magnitude * 1.5 / 1.1).abs() < 1e-6 * magnitude);
    }
    let responses = Responses::new(&model, &linear, 0, &[10.0]).unwrap();
    let output = &responses.steps[0].outputs[0];
    let [least, most] = output.members.as_ref().unwrap();
    let last = output.y.len() - 1;
    assert!(least[last] < output.y[last] && output.y[last] < most[last]);
}

/// Every kind of model: what is proven holds the band of draws and members, and without margins it is that band.
#[test]
fn what_is_proven_of_a_response_holds_every_draw() {
    let mut proven = 0;
    for (name, model) in every_kind() {
        // Named, since not every barely trained network has a rest.
        let point = [("valve", 0.4), ("heater", 51.0), ("flow", 0.7), ("temperature", 20.5)];
        let point = PointRequest {
            values: point.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        let linear = Linearisation::new(&model, &point).unwrap();
        let found = FrequencyResponse::new(&linear, None).unwrap();
        for channel in &found.channels {
            assert_eq!(channel.certified.is_some(), channel.band.is_some(), "{name}");
            let (Some(bound), Some(band)) = (&channel.certified, &channel.band) else {
                continue;
            };
            let count = bound.magnitude[1].iter().flatten().count();
            assert_eq!(
                (count, bound.magnitude[0].len()),
                (bound.proven, found.frequency.len()),
                "{name}"
            );
            proven += count;
            // Draws are computed with rounding errors of their own.
            let slack = 1e-9;
            for place in 0..found.frequency.len() {
                if let [Some(least), Some(most)] = [0, 1].map(|side| bound.magnitude[side][place]) {
                    let [low, high] = [0, 1].map(|side| band.magnitude[side][place]);
                    assert!(least <= low * (1.0 + slack), "{name}, place {place}: {least} {low}");
                    assert!(high <= most * (1.0 + slack), "{name}, place {place}: {high} {most}");
                }
                if let [Some(least), Some(most)] = [0, 1].map(|side| bound.phase[side][place]) {
                    let [low, high] = [0, 1].map(|side| band.phase[side][place]);
                    assert!(least <= low + slack && high <= most + slack, "{name}, place {place}");
                }
            }
        }
    }
    assert!(proven > 500, "{proven} frequencies are proven");
}

#[test]
fn without_margins_what_is_proven_is_the_band_of_members() {
    let model = known_linear(&[1.0, 0.8, 1.5], Some(0.2));
    let linear = Linearisation::new(&model, &PointRequest::default()).unwrap();
    let found = FrequencyResponse::new(&linear, None).unwrap();
    let (band, bound) = (
        found.channels[0].band.as_ref().unwrap(),
        found.channels[0].certified.as_ref().unwrap(),
    );
    assert_eq!(bound.proven, found.frequency.len());
    for side in 0..2 {
        for (drawn, proven) in band.magnitude[side].iter().zip(&bound.magnitude[side]) {
            assert!((drawn - proven.unwrap()).abs() < 1e-9 * drawn, "{drawn} {proven:?}");
        }
        for (drawn, proven) in band.phase[side].iter().zip(&bound.phase[side]) {
            assert!((drawn - proven.unwrap()).abs() < 1e-6, "{drawn} {proven:?}");
        }
    }
}

#[test]
fn a_record_of_the_system_shows_its_response() {
    let system = LinearSystem {
        noise_std: 0.3,
        ..LinearSystem::default()
    };
    let record = system.generate(20_000, 4).unwrap().into_dataset();
    let model = known_linear(&[1.0], None);
    let linear = Linearisation::new(&model, &PointRequest::default()).unwrap();
    let found = FrequencyResponse::new(&linear, Some(&record)).unwrap();
    let measured = found.channels[0].measured.as_ref().unwrap();
    let mut outside = 0;
    for (place, hertz) in measured.frequency.iter().enumerate() {
        let (expected, _) = closed_form(std::f64::consts::TAU * hertz);
        // Far from the resonance, where a window's width does not flatten it.
        if *hertz > 0.2 {
            let limit = 4.0 * measured.deviation[place] + 0.03;
            outside += usize::from((measured.magnitude[place] / expected - 1.0).abs() > limit);
            assert!(measured.coherence[place] <= 1.0);
        }
    }
    assert!(
        outside * 50 < measured.frequency.len(),
        "{outside} of {}",
        measured.frequency.len()
    );
    assert!(measured.coherence[5] > 0.95, "{}", measured.coherence[5]);
    let short = LinearSystem::default().generate(40, 1).unwrap().into_dataset();
    assert!(
        FrequencyResponse::new(&linear, Some(&short))
            .unwrap_err()
            .to_string()
            .contains("40")
    );
}

#[test]
fn the_static_curve_of_a_wiener_system_is_the_truth() {
    let system = WienerSystem {
        noise_floor: 0.0,
        noise_slope: 0.0,
        ..WienerSystem::default()
    };
    let record = system.generate(1500, 3).unwrap().into_dataset();
    let settings = config(ModelKind::Inode, (1, 1, 2), &[12]).with(|config| {
        config.network.linear_path = true;
        config.training.epochs = 60;
        config.training.learning_rate = 1e-2;
    });
    let model = fitted(&record, &settings);
    let curve = StaticCurve::new(&model, 0, None).unwrap();
    let gain = 0.6 / 0.3;
    let mut compared = 0;
    for (place, u) in curve.u.iter().enumerate().filter(|(_, u)| u.abs() < 1.2) {
        let x = gain * u;
        let truth = x / (1.0 + (x / system.saturation).powi(2)).sqrt();
        let found = curve.outputs[0].y[place].expect("a rest");
        assert!((found - truth).abs() < 0.2, "u = {u}: {found}, truth {truth}");
        assert!(curve.outputs[0].lower[place] <= Some(found) && Some(found) <= curve.outputs[0].upper[place]);
        compared += 1;
    }
    assert!(compared > 15);
    // Steep in the middle, flat at the ends.
    let slope = |place: usize| curve.outputs[0].gain[place].unwrap();
    assert!(slope(20) > 2.0 * slope(35), "{} {}", slope(20), slope(35));
    let within = StaticCurve::new(&model, 0, Some(&record)).unwrap();
    assert_eq!((within.range, within.u.len()), ("data", 41));
}

#[test]
fn a_line_has_the_same_gain_everywhere() {
    let curve = StaticCurve::new(&known_linear(&[1.0], None), 0, None).unwrap();
    assert!((curve.u[0] - 10.0).abs() < 1e-9 && (curve.u[40] - 90.0).abs() < 1e-9);
    for (u, (y, gain)) in curve
        .u
        .iter()
        .zip(curve.outputs[0].y.iter().zip(&curve.outputs[0].gain))
    {
        assert!((y.unwrap() - (1.5 * u + 3.0) / 0.2).abs() < 1e-3 && (gain.unwrap() - 7.5).abs() < 1e-6);
    }
}

/// A record whose errors against `bands` are these.
fn with_errors(errors: &[f64]) -> (Dataset, Vec<Band>) {
    let u: Vec<f64> = (0..errors.len())
        .map(|k| 50.0 + 10.0 * (0.7 * k as f64).sin() + (k * k % 7) as f64)
        .collect();
    let simulated: Vec<f64> = u.iter().map(|u| 300.0 + u).collect();
    let y = simulated.iter().zip(errors).map(|(y, e)| y + e).collect();
    let record = Experiment::new("e", vec![u], vec![y]);
    let dataset = Dataset::new(
        "d",
        vec![Channel::new("valve")],
        vec![Channel::new("level")],
        None,
        vec![record],
    )
    .unwrap();
    let shifted = |by: f64| simulated.iter().map(|y| y + by).collect::<Vec<f64>>();
    let band = Band {
        experiment: 0,
        first: 0,
        warmup: 0,
        lower: vec![shifted(-1.645)],
        centre: vec![shifted(0.0)],
        upper: vec![shifted(1.645)],
        diverged_at: None,
    };
    (dataset, vec![band])
}

/// Normal noise of variance one.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let record = LinearSystem {
        feedback: Vec::new(),
        feedthrough: vec![1.0],
        dead_time: 0,
        noise_std: 0.0,
        ..LinearSystem::default()
    };
    record.generate(n, seed).unwrap().into_dataset().experiments()[0]
        .output(0)
        .to_vec()
}

#[test]
fn white_residuals_are_within_their_bounds_and_coloured_ones_are_not() {
    let model = known_linear(&[1.0], None);
    // One lag in twenty is beyond the bounds by chance.
    let beyond = |seed: u64| {
        let (dataset, bands) = with_errors(&noise(2000, seed));
        let found = &residuals(&model, &dataset, &bands).unwrap()[0];
        (found.autocorrelation.beyond().0, found.cross[0].correlation.beyond().0)
    };
    let (own, cross) = (1..11)
        .map(beyond)
        .fold((0, 0), |sum, found| (sum.0 + found.0, sum.1 + found.1));
    assert!(
        (5..=40).contains(&own) && cross <= 40,
        "{own} and {cross} of 400, 20 expected"
    );
    let (dataset, bands) = with_errors(&noise(4000, 1));
    let found = &residuals(&model, &dataset, &bands).unwrap()[0];
    assert!(
        found.mean.abs() < 0.05 && (found.std - 1.0).abs() < 0.05,
        "{} {}",
        found.mean,
        found.std
    );
    let spectrum = found.spectrum.as_ref().unwrap();
    let level = spectrum.power.iter().sum::<f64>() / spectrum.power.len() as f64;
    assert!(
        (level - 1.0).abs() < 0.1,
        "white noise has its variance at every frequency: {level}"
    );
    for (density, normal) in found.histogram.density.iter().zip(&found.histogram.normal) {
        assert!((density - normal).abs() < 0.06, "{density} {normal}");
    }
    let groups = found.by_time.iter().chain(&found.by_amplitude);
    assert!(
        groups.clone().all(|group| (group.inside.unwrap() - 0.9).abs() < 0.06),
        "{:?}",
        groups.collect::<Vec<_>>()
    );
    assert_eq!(
        (
            found.by_time.iter().map(|group| group.n).sum::<usize>(),
            &found.by_region
        ),
        (4000, &None)
    );

    let mut slow = noise(4000, 2);
    (1..slow.len()).for_each(|k| slow[k] += 0.9 * slow[k - 1]);
    let (dataset, bands) = with_errors(&slow);
    let found = &residuals(&model, &dataset, &bands).unwrap()[0];
    assert!(!found.autocorrelation.is_white());
    let spectrum = found.spectrum.as_ref().unwrap();
    assert!(spectrum.power[1] > 10.0 * spectrum.power[spectrum.power.len() - 2]);
}

#[test]
fn fits_fall_from_one_sample_ahead_to_the_free_run() {
    // Noise that the system remembers: a measurement tells of it, a free run knows nothing.
    let (u, e) = (noise(600, 3), noise(600, 4));
    let mut y = vec![0.0];
    (1..600).for_each(|k| y.push(0.95 * y[k - 1] + u[k - 1] + 0.5 * e[k]));
    let record = Experiment::new("e", vec![u], vec![y]);
    let record = Dataset::new(
        "d",
        vec![Channel::new("u")],
        vec![Channel::new("y")],
        None,
        vec![record],
    )
    .unwrap();
    let model = fitted(&record, &config(ModelKind::Arx, (0, 1, 1), &[]));
    let fits = fits_ahead(&model, &record, &Part::whole(&record)).unwrap();
    assert_eq!(fits.last().unwrap().horizon, None);
    assert_eq!(fits[0].horizon, Some(1));
    let fit = |index: usize| fits[index].fit_percent[0].unwrap();
    assert!(
        fit(0) > 75.0 && fit(0) > fit(4) + 5.0 && fit(4) > fit(fits.len() - 1),
        "{fits:?}"
    );
}

#[test]
fn every_kind_has_every_view() {
    for (name, model) in every_kind() {
        let Ok(linear) = Linearisation::new(&model, &PointRequest::default()) else {
            continue;
        };
        let found = FrequencyResponse::new(&linear, None).unwrap();
        assert_eq!(found.channels.len(), 4, "{name}");
        if linear.is_stable {
            let responses = Responses::new(&model, &linear, 1, &[]).unwrap();
            assert_eq!(
                (responses.steps.len(), responses.steps[0].outputs.len()),
                (4, 2),
                "{name}"
            );
        }
        assert_eq!(StaticCurve::new(&model, 0, None).unwrap().outputs.len(), 2, "{name}");
    }
}

#[test]
fn a_rest_beyond_a_physical_limit_is_a_rest_at_the_limit() {
    let range = OutputRange {
        least: Some(205.0),
        most: Some(595.0),
    };
    let model = known_linear(&[1.0], None).with_output_ranges(vec![range]).unwrap();
    let curve = StaticCurve::new(&model, 0, None).unwrap();
    let output = &curve.outputs[0];
    for (place, u) in curve.u.iter().enumerate() {
        let rest = (1.5 * u + 3.0) / 0.2;
        let (y, gain) = (output.y[place].expect("a rest"), output.gain[place].expect("a slope"));
        assert!((y - range.clipped(rest)).abs() < 1e-3, "u = {u}: {y}");
        let slope = if range.contains(rest) { 7.5 } else { 0.0 };
        assert!((gain - slope).abs() < 1e-6, "u = {u}: {gain}");
        assert!(output.lower[place] >= range.least && output.upper[place] <= range.most);
    }
}
