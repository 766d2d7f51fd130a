//! The parameters of networks as constant tables.

use std::fmt::Write as _;

use super::literal::CNumber;
use crate::state_space_plan::{MapPlan, StateSpacePlan};
use crate::step_program::{Bounded, NetworkPlan};

/// A matrix that is not there.
const NONE: &str = "{ 0, 0, 0, 0, 0 }";

/// All tables, and the lists `layers[member][layer]` and `linear_path[member]` that point to them.
pub(super) fn network_tables(networks: &NetworkPlan, inner: CNumber) -> String {
    let mut text = String::new();
    let (mut layers, mut paths) = (Vec::new(), Vec::new());
    for (index, member) in networks.members.iter().enumerate() {
        let mut rows = Vec::new();
        for (depth, layer) in member.layers.iter().enumerate() {
            let mut add =
                |role: &str, block: &Bounded| table(&mut text, &format!("m{index}_{role}{depth}"), block, inner);
            let mut fields = vec![add("weight", &layer.weight)];
            if networks.members[0].layers[0].recurrent.is_some() {
                fields.push(match &layer.recurrent {
                    Some(block) => add("recurrent", block),
                    None => NONE.to_owned(),
                });
            }
            fields.push(add("bias", &layer.bias));
            rows.push(format!("        {{ {} }}", fields.join(",\n          ")));
        }
        layers.push(format!("    {{\n{}\n    }}", rows.join(",\n")));
        if let Some(linear) = &member.linear {
            paths.push(format!(
                "    {}",
                table(&mut text, &format!("m{index}_linear"), linear, inner)
            ));
        }
    }
    let _ = writeln!(
        text,
        "static const layer layers[MEMBERS][LAYERS] = {{\n{}\n}};",
        layers.join(",\n")
    );
    if !paths.is_empty() {
        let _ = writeln!(
            text,
            "\n/* Linear path, added to the read-out. */\nstatic const matrix linear_path[MEMBERS] = {{\n{}\n}};",
            paths.join(",\n")
        );
    }
    text
}

/// All tables, and the list `models[member]` that points to them.
pub(super) fn state_space_tables(models: &StateSpacePlan, inner: CNumber) -> String {
    let mut text = String::new();
    let has_units = models.units().iter().any(|&units| units > 0);
    let mut rows = Vec::new();
    for (index, member) in models.members.iter().enumerate() {
        let mut fields = Vec::new();
        for (name, map) in [("state", &member.state), ("output", &member.output)] {
            let name = format!("m{index}_{name}");
            fields.push(map_fields(&mut text, &name, map, has_units, inner));
        }
        fields.push(table(&mut text, &format!("m{index}_observer"), &member.observer, inner));
        rows.push(format!("    {{ {} }}", fields.join(",\n      ")));
    }
    let _ = writeln!(
        text,
        "static const state_space models[MEMBERS] = {{\n{}\n}};",
        rows.join(",\n")
    );
    text
}

/// Writes the tables of a map and gives the `map` that points to them; without units of its own, beside one with units, it has
/// empty matrices for them.
fn map_fields(text: &mut String, name: &str, map: &MapPlan, has_units: bool, inner: CNumber) -> String {
    let mut add = |role: &str, block: &Bounded| table(text, &format!("{name}_{role}"), block, inner);
    let mut fields = vec![add("linear", &map.linear), add("bias", &map.bias)];
    match &map.units {
        Some(units) => fields.extend([
            add("unit_weight", &units.weight),
            add("unit_bias", &units.bias),
            add("read_out", &units.read_out),
        ]),
        None if has_units => fields.extend([NONE; 3].map(str::to_owned)),
        None => {}
    }
    format!("{{ {} }}", fields.join(",\n        "))
}

/// Writes the three tables of a matrix and gives the `matrix` that points to them.
fn table(text: &mut String, name: &str, block: &Bounded, inner: CNumber) -> String {
    for (part, values) in [
        ("centre", &block.centre),
        ("lower", &block.lower),
        ("upper", &block.upper),
    ] {
        let _ = writeln!(
            text,
            "static const inner_number {name}_{part}[{}] = {{\n{}\n}};",
            values.len(),
            inner.rows(values)
        );
    }
    let _ = writeln!(text);
    format!(
        "{{ {}, {}, {name}_centre, {name}_lower, {name}_upper }}",
        block.rows, block.columns
    )
}
