//! Structure of the graphs. That they give the right numbers is tested in onnxruntime, `tests/deploy/onnx.rs`.

use std::collections::HashSet;

use intervalid_data::{InitialState, Lags, ReadOptions, Split, SplitFractions, load};
use intervalid_model::{FitConfig, FitOptions, Model, ModelKind, Precision};
use prost::Message as _;

use super::models::{IR_VERSION, OPSET};
use super::proto::{DOUBLE, FLOAT, GraphProto, ModelProto, Size, ValueInfoProto};
use super::{OnnxModels, OnnxOptions, onnx_models};
use crate::step_program::StepProgram;

fn plan(model: ModelKind, precision: Precision, initial: InitialState) -> StepProgram {
    let dataset = load(&["hair-dryer"], None, &ReadOptions::default()).unwrap();
    let split = Split::new(&dataset, SplitFractions::new(0.2, 0.1, 0.7).unwrap()).unwrap();
    let config = FitConfig::default().with(|config| {
        config.model = model;
        config.precision = precision;
        config.initial = initial;
        config.lags = Lags::new(2, 1, 3).unwrap();
        config.network.hidden = vec![4, 3];
        config.training.epochs = 1;
    });
    let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
    StepProgram::new(&model).unwrap()
}

fn exported(plan: &StepProgram) -> OnnxModels {
    onnx_models(plan, &OnnxOptions::default()).unwrap()
}

fn in_double() -> OnnxOptions {
    OnnxOptions {
        precision: Some(Precision::F64),
        jacobian: false,
    }
}

fn decoded(bytes: &[u8]) -> ModelProto {
    ModelProto::decode(bytes).unwrap()
}

/// Name and sizes of inputs or outputs; 0 for any size.
fn ports(infos: &[ValueInfoProto]) -> Vec<(String, Vec<i64>)> {
    let sizes = |info: &ValueInfoProto| {
        let tensor = info.r#type.clone().unwrap().tensor_type.unwrap();
        let dims = tensor.shape.unwrap().dim.into_iter();
        dims.map(|dim| match dim.value.unwrap() {
            Size::Value(size) => size,
            Size::Param(_) => 0,
        })
        .collect()
    };
    infos
        .iter()
        .map(|info| (info.name.clone().unwrap(), sizes(info)))
        .collect()
}

fn named(entries: &[(&str, &[i64])]) -> Vec<(String, Vec<i64>)> {
    entries
        .iter()
        .map(|(name, sizes)| ((*name).to_owned(), sizes.to_vec()))
        .collect()
}

/// Every tensor is made once, before it is used; tells how many nodes there are.
fn check_order(graph: &GraphProto, mut known: HashSet<String>) -> usize {
    let constants = graph.initializer.iter().map(|constant| constant.name.clone());
    let inputs = graph.input.iter().map(|input| input.name.clone());
    for name in constants.chain(inputs) {
        assert!(known.insert(name.unwrap()));
    }
    let mut count = 0;
    for node in &graph.node {
        for name in &node.input {
            assert!(known.contains(name), "{name} of {node:?}");
        }
        for body in node.attribute.iter().filter_map(|attribute| attribute.g.as_deref()) {
            count += check_order(body, known.clone());
        }
        for name in &node.output {
            assert!(known.insert(name.clone()), "{name} is made twice");
        }
        count += 1;
    }
    for output in &graph.output {
        assert!(known.contains(output.name.as_ref().unwrap()), "{output:?}");
    }
    count
}

#[test]
fn graphs_have_the_promised_inputs_and_outputs() {
    let plan = plan(ModelKind::Ilstm, Precision::F32, InitialState::Warmup(5));
    let models = exported(&plan);
    assert_eq!(models.state_len, 3 + 3 + 2 * (4 + 3));
    let states: &[(&str, &[i64])] = &[
        ("state_u", &[3, 1]),
        ("state_y", &[1, 3, 1]),
        ("state_h1", &[1, 4]),
        ("state_c1", &[1, 4]),
        ("state_h2", &[1, 3]),
        ("state_c2", &[1, 3]),
    ];
    let graph = |bytes: &[u8]| decoded(bytes).graph.unwrap();
    let init = graph(&models.init);
    assert_eq!(ports(&init.input), named(&[("past_u", &[0, 1]), ("past_y", &[0, 1])]));
    assert_eq!(ports(&init.output), named(states));
    let step = graph(&models.step);
    assert_eq!(ports(&step.input), [named(&[("u", &[1])]), named(states)].concat());
    let band = named(&[("y_lower", &[1]), ("y", &[1]), ("y_upper", &[1])]);
    let next = named(states)
        .into_iter()
        .map(|(name, sizes)| (format!("next_{name}"), sizes));
    assert_eq!(ports(&step.output), band.into_iter().chain(next).collect::<Vec<_>>());
    let simulate = graph(&models.simulate);
    let history: &[(&str, &[i64])] = &[("u", &[0, 1]), ("past_u", &[0, 1]), ("past_y", &[0, 1])];
    assert_eq!(ports(&simulate.input), named(history));
    let band: &[(&str, &[i64])] = &[("y_lower", &[0, 1]), ("y", &[0, 1]), ("y_upper", &[0, 1])];
    assert_eq!(ports(&simulate.output), named(band));
}

#[test]
fn tensors_are_made_once_and_before_they_are_used() {
    for (kind, initial) in [
        (ModelKind::Inode, InitialState::ZeroPadded),
        (ModelKind::Ilstm, InitialState::Warmup(4)),
        (ModelKind::Arx, InitialState::Measured),
    ] {
        let models = exported(&plan(kind, Precision::F64, initial));
        for (name, bytes) in models.parts() {
            let model = decoded(bytes);
            assert_eq!(
                (model.ir_version, model.opset_import[0].version),
                (Some(IR_VERSION), Some(OPSET))
            );
            let graph = model.graph.unwrap();
            assert_eq!(graph.name.as_deref(), Some(name));
            assert!(check_order(&graph, HashSet::new()) > 3, "{kind} {name}");
        }
    }
}

#[test]
fn models_say_what_they_are() {
    let plan = plan(ModelKind::Inode, Precision::F64, InitialState::Measured);
    let models = exported(&plan);
    for (_, bytes) in models.parts() {
        let model = decoded(bytes);
        let find = |key: &str| {
            let entry = model
                .metadata_props
                .iter()
                .find(|entry| entry.key.as_deref() == Some(key));
            entry.unwrap_or_else(|| panic!("{key}")).value.clone().unwrap()
        };
        assert_eq!(find("model_hash"), plan.fingerprint);
        assert_eq!(find("coverage"), "0.9");
        assert_eq!(find("initial"), "measured");
        assert_eq!(
            (find("past_u_rows"), find("past_y_rows")),
            ("3".to_owned(), "3".to_owned())
        );
        assert!(
            find("band").contains("90 %") && find("band").contains("no guarantee"),
            "{}",
            find("band")
        );
    }
    assert_eq!(exported(&plan), models, "same bytes every time");
}

#[test]
fn precision_is_that_of_the_networks_or_as_asked() {
    let element = |models: &OnnxModels| {
        let graph = decoded(&models.step).graph.unwrap();
        let tensor = graph.input[0].r#type.clone().unwrap().tensor_type.unwrap();
        tensor.elem_type.unwrap()
    };
    let single = plan(ModelKind::Inode, Precision::F32, InitialState::ZeroPadded);
    assert_eq!(element(&exported(&single)), FLOAT);
    assert_eq!(element(&onnx_models(&single, &in_double()).unwrap()), DOUBLE);
    // ARX is computed in double whatever precision networks would be fitted in.
    let linear = plan(ModelKind::Arx, Precision::F32, InitialState::ZeroPadded);
    assert_eq!(element(&exported(&linear)), DOUBLE);
}

#[test]
fn numbers_that_single_precision_cannot_hold_are_refused() {
    let mut plan = plan(ModelKind::Inode, Precision::F32, InitialState::ZeroPadded);
    for (mean, std, expected) in [
        (
            1e60,
            1.0,
            "input.mean is 1e60, which single precision cannot hold: export in double precision",
        ),
        (
            0.0,
            1e-60,
            "input.std is 1e-60, which single precision cannot hold: export in double precision",
        ),
    ] {
        (plan.inputs[0].scale.mean, plan.inputs[0].scale.std) = (mean, std);
        let message = onnx_models(&plan, &OnnxOptions::default()).unwrap_err().to_string();
        assert_eq!(message, expected);
        assert!(onnx_models(&plan, &in_double()).is_ok());
    }
}

#[test]
fn baselines_are_refused_with_a_reason() {
    let dataset = load(&["hair-dryer"], None, &ReadOptions::default()).unwrap();
    let split = Split::new(&dataset, SplitFractions::new(0.2, 0.1, 0.7).unwrap()).unwrap();
    for (model, reason) in [
        (ModelKind::Bnode, "random draws"),
        (ModelKind::DropoutLstm, "randomly thinned"),
        (ModelKind::EnsembleNode, "Gaussian read-out"),
    ] {
        let config = FitConfig::default().with(|config| {
            config.model = model;
            config.network.hidden = vec![3];
            config.training.epochs = 1;
        });
        let (fitted, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
        let message = StepProgram::new(&fitted).unwrap_err().to_string();
        assert!(
            message.contains(reason) && message.contains("fit inode or ilstm"),
            "{message}"
        );
    }
}
