//! The text files of an FMU.

use minijinja::{AutoEscape, Environment, Value};

use super::archive::FmiVersion;

/// Name inside `sources/`, and content.
pub(super) type SourceFile = (String, String);

pub(super) struct Texts {
    pub(super) description: String,
    pub(super) wrapper: SourceFile,
    /// Of FMI 3.0.
    pub(super) build: Option<String>,
}

pub(super) fn texts(version: FmiVersion, name: &str, context: &Value) -> Texts {
    let mut environment = Environment::new();
    // Names and units are a user's own and go into XML; C code has none of them.
    environment.set_auto_escape_callback(|name| match name.ends_with(".xml") {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    let templates = [
        ("instance.c", include_str!("instance.c.jinja")),
        ("fmi2.c", include_str!("fmi2.c.jinja")),
        ("fmi3.c", include_str!("fmi3.c.jinja")),
        ("fmi2.xml", include_str!("fmi2.xml.jinja")),
        ("fmi3.xml", include_str!("fmi3.xml.jinja")),
        ("build.xml", include_str!("build.xml.jinja")),
    ];
    for (name, template) in templates {
        environment
            .add_template(name, template)
            .unwrap_or_else(|error| unreachable!("template {name}: {error:#}"));
    }
    let render = |template: &str| {
        environment
            .get_template(template)
            .and_then(|template| template.render(context))
            .unwrap_or_else(|error| unreachable!("template {template} fits its context: {error:#}"))
            + "\n"
    };
    let (wrapper, description) = match version {
        FmiVersion::V2 => ("fmi2.c", "fmi2.xml"),
        FmiVersion::V3 => ("fmi3.c", "fmi3.xml"),
    };
    Texts {
        description: render(description),
        wrapper: (format!("{name}_{wrapper}"), render(wrapper)),
        build: (version == FmiVersion::V3).then(|| render("build.xml")),
    }
}
