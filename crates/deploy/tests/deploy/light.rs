//! The light band: what exports say of it, and what it saves. That its numbers are those of `predict` is tested with all the others.

use intervalid_deploy::{
    BandChoice, COptions, FmiVersion, FmuOptions, Footprint, OnnxOptions, StepProgram, c_code, fmu, onnx_models,
};
use intervalid_model::{Model, ModelError};

use crate::models::{Case, calibration, cases};

/// Means of several models, one of them with several members in its light model.
fn means() -> Vec<(Case, Vec<usize>)> {
    let cases = cases()
        .into_iter()
        .filter(|case| case.model.members() == 3 && case.model.interface().calibration.is_some());
    let kept = [vec![1], vec![0, 2]].into_iter().cycle();
    let means: Vec<_> = cases.zip(kept).collect();
    assert!(means.len() > 3);
    means
}

fn with_light(case: &Case, kept: &[usize]) -> Model {
    let scaling = calibration(case.dataset.outputs().len()).unwrap();
    case.model
        .clone()
        .with_light(kept.to_vec(), scaling, &case.dataset, &case.part)
        .unwrap()
}

#[test]
fn a_light_export_says_so_and_takes_less() {
    for (case, kept) in means() {
        let Case { name, model, .. } = &case;
        let error = StepProgram::light(model).unwrap_err().to_string();
        assert!(error.contains("mean of 3 and stores no light band"), "{error}");
        let model = with_light(&case, &kept);
        let (full, light) = (StepProgram::new(&model).unwrap(), StepProgram::light(&model).unwrap());
        // What is exported is the light model, and it says whose.
        let BandChoice::Light(lightened) = &light.band else {
            panic!("{name}: {:?}", light.band)
        };
        assert_eq!((lightened.members, &lightened.full), (3, &full.fingerprint));
        let band = BandChoice::Full;
        assert_eq!(
            StepProgram { band, ..light.clone() },
            StepProgram::new(&model.light().unwrap()).unwrap()
        );
        // Work is proportional to members; a single linear model needs no bounds of its own.
        let (all, few) = (full.cost(), light.cost());
        assert_eq!((all.members, few.members), (3, kept.len()));
        assert!(
            few.multiplications * 3 <= all.multiplications * kept.len(),
            "{name}: {few:?} {all:?}"
        );
        let (all, few) = (Footprint::of_c(&full, None), Footprint::of_c(&light, None));
        assert!(
            few.tables < all.tables && few.state < all.state && few.stack < all.stack,
            "{name}"
        );
        // Every target says which band it has.
        let options = COptions {
            name: "plant".to_owned(),
            ..COptions::default()
        };
        let said = format!("This is the light band: {} member", kept.len());
        let header = c_code(&light, &options).unwrap().header.replace("\n *  ", "");
        assert!(header.contains(&said) && header.contains(&full.fingerprint), "{header}");
        let header = c_code(&full, &options).unwrap().header.replace("\n *  ", "");
        assert!(
            header.contains("This is the full band: the mean of 3 members"),
            "{header}"
        );
        let graphs = onnx_models(&light, &OnnxOptions::default()).unwrap();
        for graph in [&graphs.step, &graphs.init, &graphs.simulate] {
            assert!(String::from_utf8_lossy(graph).contains(&said), "{name}");
        }
        let options = FmuOptions {
            name: "plant".to_owned(),
            version: FmiVersion::V2,
            with_binary: false,
            monitor: None,
        };
        let package = fmu(&light, &options).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(package.bytes)).unwrap();
        let file = archive.by_name("modelDescription.xml").unwrap();
        let description = std::io::read_to_string(file).unwrap();
        assert!(description.contains(&said), "{description}");
    }
}

#[test]
fn one_member_has_no_lighter_band() {
    let case = cases().swap_remove(0);
    let program = StepProgram::light(&case.model).unwrap();
    assert_eq!(program, StepProgram::new(&case.model).unwrap());
    assert_eq!((&program.band, program.band_in_words()), (&BandChoice::Full, None));
    assert!(!matches!(case.model.light(), Err(ModelError::NoLightBand { .. })));
}
