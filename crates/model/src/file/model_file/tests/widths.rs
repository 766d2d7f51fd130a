//! Widths of bands in edited files.

use intervalid_data::Split;

use super::*;
use crate::{FitOptions, ModelKind, Strategy};

/// Each is a number by itself; multiplied they were bands without bounds, with everything inside.
#[test]
fn widths_that_are_no_band_are_refused() {
    let (dataset, part) = recipes(0.1).remove(7).dataset(400);
    let split = Split {
        train: part.clone(),
        validation: part.clone(),
        test: part,
    };
    let config = FitConfig::paper("", ModelKind::Arx, Strategy::Cascade);
    let (arx, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).expect("fits");
    let scores = vec![Vec::new(); arx.interface().outputs.len()];
    let floors = vec![0.0; scores.len()];
    let target = crate::CoverageTarget::of_each(0.9);
    let calibration = crate::calibrate((&scores, &scores), &floors, target, 1);
    let bytes = arx
        .calibrated(Some(calibration))
        .expect("fits")
        .to_bytes()
        .expect("writes");
    assert!(load(&with_metadata(&bytes, |_| ())).is_ok());
    for (pointer, expected) in [
        ("/half_width/0", "its half_width is"),
        ("/calibration/outputs/0/floor", "its calibration is"),
        ("/calibration/outputs/0/lower", "its calibration has a factor of"),
        ("/normaliser/outputs/0/std", "the normaliser of output"),
        ("/normaliser/inputs/0/mean", "the normaliser of input"),
    ] {
        let edited = with_metadata(&bytes, |metadata| {
            *metadata.pointer_mut(pointer).expect("field") = json!(1e300)
        });
        let message = refusal(&edited);
        assert!(message.contains(expected), "{pointer}: {message}");
    }
}
